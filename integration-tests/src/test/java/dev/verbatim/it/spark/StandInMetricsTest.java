package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.Scrape;
import dev.verbatim.it.spark.fixture.Scrape.Series;
import dev.verbatim.it.spark.fixture.StandIn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("standin")
class StandInMetricsTest extends MetricsTests {
  private static final Pattern SELECTOR = Pattern.compile("\\b(verbatim_\\w+)(?:\\{([^}]*)})?");
  private static final Pattern WINDOW = Pattern.compile("\\[([^]]+)]");
  private static final Pattern CONDITION = Pattern.compile("(\\w+)(?:=|!=|=~|!~)\"([^\"]*)\"");
  private static final Pattern LABEL = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?(\\w+) ?}}");

  private final StandIn standIn;
  private final Set<Long> killed = new HashSet<>();

  StandInMetricsTest() {
    StandIn device = new StandIn();
    super(device);
    standIn = device;
  }

  @Override
  void check(Scrape scrape) {
    assertEquals(0, scrape.value("verbatim_bytesByTcp"));
    assertEquals(EXECUTORS, scrape.value("verbatim_portsActive"));
    assertEquals(EXECUTORS, scrape.value("verbatim_registry_executorsWithRdma"));
    assertEquals(0, scrape.value("verbatim_registry_executorsWithoutRdma"));
    assertTrue(scrape.value("verbatim_readBytes") >= scrape.value("verbatim_bytesByRdma"));
    assertTrue(scrape.value("verbatim_connects") > 0);
    assertEquals(scrape.value("verbatim_connects"), scrape.value("verbatim_connectsAccepted"));
    assertEquals(0, scrape.value("verbatim_reconnects"));
    long batches = scrape.value("verbatim_readLatencyNanos_Count");
    assertTrue(batches > 0 && batches <= scrape.value("verbatim_reads"), () -> batches + "");
    assertEquals(batches, scrape.sum("verbatim_executor_readLatencyNanos_Count"));
    long most = scrape.value("verbatim_readLatencyNanos_Max");
    assertTrue(most > 0 && most < 60_000_000_000L, () -> most + " ns");
    for (String name : List.of("registeredBytes", "registerNanos", "poolBytes", "queuePairs")) {
      assertNotEquals(0, scrape.value("verbatim_" + name), name);
    }
    assertEquals(
        scrape.value("verbatim_outputsRegistered"), scrape.value("verbatim_registry_records"));
    assertEquals(
        standIn.counters().values().stream().mapToLong(process -> process.get("mrs")).sum(),
        scrape.value("verbatim_pinnedRegions"),
        "regions, as the device counts them");
  }

  /** Dashboard and alerts must not ask for what nobody has. */
  @Test
  @Order(3)
  void shouldHaveAllThatDashboardAndAlertsAskFor() {
    JsonNode dashboard = Scrape.yaml("grafana-dashboard.json");
    JsonNode alerts = Scrape.yaml("prometheus-alerts.yml");
    List<String> expressions = new ArrayList<>(dashboard.findValuesAsText("expr"));
    assertTrue(expressions.size() > 30, "expressions of the dashboard were found");
    int panels = expressions.size();
    expressions.addAll(alerts.findValuesAsText("expr"));
    assertTrue(expressions.size() > panels + 6, "expressions of the alerts were found");
    dashboard.findValuesAsText("definition").forEach(expressions::add);

    assertEquals(List.of(), tooShort(expressions));

    Scrape scrape = scrape();
    assertEquals(List.of(), missing(scrape, expressions));
    Set<String> labels =
        scrape.all().stream()
            .flatMap(series -> series.labels().keySet().stream())
            .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(Set.of("application", "executor", "reason", "status", "type"), labels);
    Stream.of("legendFormat", "summary", "description")
        .flatMap(
            field ->
                Stream.of(dashboard, alerts).flatMap(file -> file.findValuesAsText(field).stream()))
        .flatMap(text -> LABEL.matcher(text).results().map(found -> found.group(1)))
        .forEach(label -> assertTrue(labels.contains(label), label));
    assertEquals(
        List.of(),
        scrape.all().stream().map(Series::name).filter(n -> !n.startsWith("verbatim_")).toList(),
        "prometheus.yml has no name for");
  }

  /** Of a window with fewer than two scrapes Prometheus tells nothing, of few not much. */
  private static List<String> tooShort(List<String> expressions) {
    Duration scrapes =
        Duration.parse(
            "PT"
                + Scrape.yaml("prometheus.yml")
                    .required("scrape_configs")
                    .required(0)
                    .required("scrape_interval")
                    .asText());
    return expressions.stream()
        .flatMap(expression -> WINDOW.matcher(expression).results())
        .map(window -> window.group(1))
        .filter(window -> !window.equals("$__rate_interval")) // at least four
        .filter(window -> Duration.parse("PT" + window).compareTo(scrapes.multipliedBy(4)) < 0)
        .toList();
  }

  private static List<String> missing(Scrape scrape, List<String> expressions) {
    List<String> missing = new ArrayList<>();
    for (String expression : expressions) {
      Matcher selector = SELECTOR.matcher(expression);
      assertTrue(selector.find(), expression);
      do {
        List<Series> named = scrape.named(selector.group(1)).toList();
        if (named.isEmpty()) {
          missing.add(selector.group(1));
        }
        String conditions = selector.group(2) == null ? "" : selector.group(2);
        for (Matcher each = CONDITION.matcher(conditions); each.find(); ) {
          String label = each.group(1);
          Arrays.stream(each.group(2).split("\\|"))
              .filter(value -> !value.startsWith("$"))
              .filter(v -> named.stream().noneMatch(s -> v.equals(s.labels().get(label))))
              .forEach(value -> missing.add(selector.group()));
        }
      } while (selector.find());
    }
    return missing;
  }

  @Test
  @Order(4)
  void shouldCountWhatFailsByStatusAndByReason() {
    Scrape before = scrape();
    standIn.faults("read nth=3 status=4");
    assertResult(SCENARIO, cluster().run(SCENARIO).lines());
    standIn.faults();

    awaitMore(before, s -> s.value("verbatim_readFailure", "status", "LOC_PROT_ERR"));
    awaitMore(before, s -> s.value("verbatim_fallback", "reason", "READ_FAILED"));
    awaitMore(before, s -> s.value("verbatim_reconnects"));
    assertEquals(scrape().value("verbatim_readFailures"), scrape().sum("verbatim_readFailure"));
  }

  private void awaitMore(Scrape before, ToLongFunction<Scrape> value) {
    Deadline.await(
        "growth of a counter",
        Duration.ofSeconds(30),
        () -> value.applyAsLong(scrape()) > value.applyAsLong(before),
        () -> value.applyAsLong(scrape()));
  }

  @Test
  @Order(5)
  void shouldTellThatPortsAreDownAndUpAgain() {
    standIn.portDown();
    awaitPorts(0);
    assertEquals(EXECUTORS, scrape().value("verbatim_registry_executorsWithRdma"));
    standIn.portUp();
    awaitPorts(EXECUTORS);
  }

  private void awaitPorts(int active) {
    Deadline.await(
        active + " active ports",
        Duration.ofSeconds(30),
        () -> scrape().value("verbatim_portsActive") == active,
        () -> scrape().value("verbatim_portsActive"));
  }

  @Test
  @Order(6)
  void shouldShowNewExecutorsInsteadOfLostOnesAndKeepTheirCounts() {
    long counted = scrape().value("verbatim_bytesByRdma");
    String lost = executors().first();
    killed.add(Executors.running().get(lost).pid());
    Executors.kill(lost);
    cluster().awaitExecutors(EXECUTORS);

    Deadline.await(
        "metrics of the executors that are here",
        Duration.ofSeconds(30),
        () -> executors().equals(Executors.running().keySet()),
        this::executors);
    assertTrue(!executors().contains(lost));
    assertEquals(counted, scrape().value("verbatim_bytesByRdma"));
    assertEquals(EXECUTORS, scrape().value("verbatim_portsActive"));
  }

  private TreeSet<String> executors() {
    return scrape()
        .named("verbatim_executor_bytesByRdma")
        .map(series -> series.labels().get("executor"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Override
  void checkAfterStop() {
    super.checkAfterStop();
    standIn.assertNothingLeft(killed);
  }
}
