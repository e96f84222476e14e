package dev.verbatim.shuffle.ui;

import java.util.Comparator;
import java.util.List;
import org.apache.spark.ui.PagedDataSource;
import org.apache.spark.ui.PagedTable;
import org.apache.spark.ui.UIUtils$;
import scala.Option;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.xml.Node;

/** A table that shows one page of its rows at a time, with Spark's own navigation. */
final class RowTable<T> implements PagedTable<T> {
  private final TableState state;
  private final String path;
  private final List<Column<T>> columns;
  private final List<T> rows;

  /**
   * @param path of the page, with the state of its other tables
   * @param rows more than none
   */
  RowTable(TableState state, String path, List<Column<T>> columns, List<T> rows) {
    this.state = state;
    this.path = path;
    this.columns = columns;
    Comparator<T> order =
        columns.stream()
            .filter(column -> column.title().equals(state.sort()))
            .findFirst()
            .orElseThrow()
            .order();
    Comparator<T> ordered = state.desc() ? order.reversed() : order;
    // Rows that are equal are always in the same order.
    this.rows = rows.stream().sorted(ordered.thenComparing(columns.getFirst().order())).toList();
  }

  Seq<Node> render() {
    int pages = Math.ceilDiv(rows.size(), state.pageSize());
    return table(Math.min(state.page(), pages));
  }

  @Override
  public String tableId() {
    return state.tag() + "-table";
  }

  @Override
  public String tableCssClass() {
    return UIUtils$.MODULE$.TABLE_CLASS_STRIPED();
  }

  @Override
  public String pageSizeFormField() {
    return state.tag() + ".pageSize";
  }

  @Override
  public String pageNumberFormField() {
    return state.tag() + ".page";
  }

  @Override
  public PagedDataSource<T> dataSource() {
    return new PagedDataSource<>(state.pageSize()) {
      @Override
      public int dataSize() {
        return rows.size();
      }

      @Override
      public scala.collection.Seq<T> sliceData(int from, int to) {
        return Tag.seq(rows.subList(from, to));
      }
    };
  }

  @Override
  public Seq<Node> headers() {
    List<Tuple3<String, Object, Option<String>>> headers =
        columns.stream()
            .map(
                column ->
                    new Tuple3<>(
                        column.title(),
                        (Object) column.isSortable(),
                        Option.apply(column.tooltip())))
            .toList();
    return headerRow(
        Tag.seq(headers),
        state.desc(),
        state.pageSize(),
        state.sort(),
        path,
        state.tag(),
        anchor());
  }

  @Override
  public Seq<Node> row(T row) {
    Tag cells = Tag.of("tr");
    columns.forEach(column -> cells.add(column.cell().apply(row)));
    return Tag.seq(cells.node());
  }

  @Override
  public String pageLink(int page) {
    return path
        + state.order()
        + "&%s=%d&%s=%d#%s"
            .formatted(
                pageNumberFormField(), page, pageSizeFormField(), state.pageSize(), anchor());
  }

  @Override
  public String goButtonFormPath() {
    return path + state.order() + "#" + anchor();
  }

  private String anchor() {
    return state.tag();
  }
}
