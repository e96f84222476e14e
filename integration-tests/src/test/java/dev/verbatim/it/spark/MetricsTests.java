package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Device;
import dev.verbatim.it.spark.fixture.OwnMetrics;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.Scrape;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.shuffle.RdmaShuffleManager;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.metrics.ShuffleMetric;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkEnv;
import org.apache.spark.metrics.MetricsSystem;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** The metrics of an application, by every sink that shows them, against what it counts itself. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
abstract class MetricsTests extends ApplicationTests {
  static final int EXECUTORS = 2;
  static final Scenario SCENARIO = Scenario.REPARTITION;

  private MetricsSystem driverMetrics;

  MetricsTests(Device device) {
    super(device);
  }

  @Override
  Collection<Scenario> scenarios() {
    return List.of(SCENARIO);
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return application
        .executors(EXECUTORS)
        .shown()
        .set("spark.metrics.conf", Scrape.CONF.resolve("metrics.properties"));
  }

  final String ui() {
    return cluster().session().sparkContext().uiWebUrl().get();
  }

  final Scrape scrape() {
    return Scrape.of(ui());
  }

  @Test
  @Order(1)
  void shouldRegisterOnceInEachProcess() {
    driverMetrics = SparkEnv.get().metricsSystem();
    assertEquals(1, driverMetrics.getSourcesByName("verbatim").size());
    Map<String, String> executors =
        cluster()
            .inEachExecutor(
                EXECUTORS,
                () -> "" + SparkEnv.get().metricsSystem().getSourcesByName("verbatim").size());
    executors.values().forEach(sources -> assertEquals("1", sources));
  }

  @Test
  @Order(2)
  void shouldShowTheSameNumbersInEverySinkAsTheReport() {
    Outcome outcome = runUndisturbed(SCENARIO);

    Deadline.await(
        "agreement of all sinks with the report",
        Duration.ofSeconds(30),
        () -> differences().isEmpty(),
        this::differences);
    Scrape scrape = scrape();
    assertEquals(
        outcome.traffic().remoteBytes(),
        scrape.value("verbatim_bytesByRdma") + scrape.value("verbatim_bytesByTcp"),
        "as Spark counts");
    assertTrue(scrape.value("verbatim_blocksByRdma") + scrape.value("verbatim_blocksByTcp") > 0);
    RdmaShuffleManager.report()
        .fallbacks()
        .forEach(
            (reason, blocks) ->
                assertEquals(blocks, scrape.value("verbatim_fallback", "reason", reason.name())));
    assertEquals(scrape.value("verbatim_fallbacks"), scrape.sum("verbatim_fallback"));
    check(scrape);
  }

  /** What else holds on this device. */
  abstract void check(Scrape scrape);

  /** Metrics by name that not all tell alike; empty when they agree. */
  private Map<String, String> differences() {
    Map<String, Long> jmx =
        OwnMetrics.sum(cluster().inEachExecutor(EXECUTORS, OwnMetrics::describe).values());
    CounterSnapshot report = RdmaShuffleManager.report().total();
    Map<String, Long> json = Scrape.json(ui());
    Scrape scrape = scrape();
    Map<String, String> differences = new TreeMap<>();
    for (ShuffleMetric metric : ShuffleMetric.values()) {
      String name = metric.text();
      List<Long> told =
          List.of(
              metric.of(report),
              jmx.getOrDefault(name, -1L),
              json.getOrDefault(name, -1L),
              scrape.sum("verbatim_" + name),
              scrape.sum("verbatim_executor_" + name));
      if (told.stream().distinct().count() != 1) {
        differences.put(name, "report, JMX, JSON, Prometheus, its executors: " + told);
      }
    }
    return differences;
  }

  @Override
  void checkAfterStop() {
    assertTrue(driverMetrics.getSourcesByName("verbatim").isEmpty(), "it is taken out at the end");
  }
}
