package dev.verbatim.shuffle.ui;

import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.UIUtils$;
import org.apache.spark.ui.WebUIPage;
import org.apache.spark.util.Utils;
import org.json4s.JValue;
import org.json4s.jackson.JsonMethods$;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.xml.Node;

/** The tab's one page: the whole application, its executors and its shuffles. */
final class RdmaPage extends WebUIPage {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String HELP =
      "How the blocks of this application's shuffles travel. Counters are those that executors"
          + " have reported: exact where no task reads a shuffle now, some seconds old otherwise.";

  private final SparkUITab tab;
  private final Supplier<RdmaStatus> status;
  private final List<Column<ExecutorRow>> executorColumns;
  private final List<Column<ShuffleRow>> shuffleColumns = ShuffleColumns.all();

  /**
   * @param address of an executor, by its id; may throw when it is not known
   */
  RdmaPage(SparkUITab tab, Supplier<RdmaStatus> status, Function<String, String> address) {
    super("");
    this.tab = tab;
    this.status = status;
    this.executorColumns = ExecutorColumns.all(address);
  }

  @Override
  public Seq<Node> render(HttpServletRequest request) {
    RdmaStatus now = status.get();
    TableState executors = TableState.of(request, "executors", executorColumns);
    TableState shuffles = TableState.of(request, "shuffles", shuffleColumns);
    String page =
        UIUtils$.MODULE$.prependBaseUri(request, tab.basePath(), "/" + RdmaTab.PREFIX + "/?");
    Tag content = Tag.of("div").add(summary(now));
    section(
        content,
        executors,
        "Executors",
        "No executor has told how it is equipped yet.",
        page + shuffles.query(),
        executorColumns,
        now.executors());
    section(
        content,
        shuffles,
        "Shuffles",
        "There are no map outputs that an executor with RDMA has written.",
        page + executors.query(),
        shuffleColumns,
        now.shuffles());
    UIUtils$ ui = UIUtils$.MODULE$;
    return ui.headerSparkPage(
        request,
        "RDMA",
        () -> Tag.seq(content.node()),
        tab,
        Option.apply(HELP),
        ui.headerSparkPage$default$6(),
        ui.headerSparkPage$default$7(),
        ui.headerSparkPage$default$8());
  }

  @Override
  public JValue renderJson(HttpServletRequest request) {
    return JsonMethods$.MODULE$.fromJsonNode(JSON.valueToTree(status.get()));
  }

  private static <T> void section(
      Tag content,
      TableState state,
      String title,
      String none,
      String path,
      List<Column<T>> columns,
      List<T> rows) {
    content.add(
        Tag.of("h4").with("id", state.tag()).add("%s (%d)".formatted(title, rows.size())).node());
    if (rows.isEmpty()) {
      content.add(Tag.text("p", none));
    } else {
      content.addAll(new RowTable<>(state, path, columns, rows).render());
    }
  }

  private static Node summary(RdmaStatus now) {
    ExecutorRow total = now.application().total();
    List<ExecutorRow> living = now.executors().stream().filter(ExecutorRow::living).toList();
    long on = living.stream().filter(row -> !row.device().isEmpty()).count();
    long active = living.stream().filter(row -> row.port().equals("PORT_ACTIVE")).count();
    Tag list = Tag.of("ul").with("class", "list-unstyled").with("id", "rdma-summary");
    item(list, "Driver", now.application().mode());
    item(
        list,
        "Executors",
        "%d with RDMA, %d of them with an active port; %d without"
            .formatted(on, active, living.size() - on));
    item(list, "Read by RDMA", moved(total.bytesByRdma(), total.blocksByRdma()));
    item(list, "Read by TCP", moved(total.bytesByTcp(), total.blocksByTcp()));
    item(list, "Blocks that fell back to TCP", fallbacks(total));
    item(
        list,
        "Registered now",
        "%s in %d memory regions"
            .formatted(Utils.bytesToString(total.registeredBytes()), total.regions()));
    item(list, "READ latency", latency(total));
    return list.node();
  }

  private static void item(Tag list, String name, String value) {
    list.add(Tag.of("li").add(Tag.text("strong", name + ": ")).add(value).node());
  }

  private static String moved(long bytes, long blocks) {
    return "%s in %d blocks".formatted(Utils.bytesToString(bytes), blocks);
  }

  private static String fallbacks(ExecutorRow row) {
    List<String> each = new ArrayList<>();
    row.fallbacks().forEach((reason, count) -> each.add(reason + ": " + count));
    return each.isEmpty() ? "none" : String.join(", ", each);
  }

  private static String latency(ExecutorRow row) {
    return row.readMostNanos() == 0
        ? "no READ yet"
        : "median %s, 99 %% within %s, most %s"
            .formatted(
                ExecutorColumns.time(row.readMedianNanos()),
                ExecutorColumns.time(row.read99Nanos()),
                ExecutorColumns.time(row.readMostNanos()));
  }
}
