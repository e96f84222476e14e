package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.GatedShuffle;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.Scrape;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One executor's device fails for good in mid-job: what Prometheus and a browser show of it, and
 * that the results are right.
 */
@Tag("standin")
class StandInDeviceLostTest extends UiTests {
  @Override
  Collection<Scenario> scenarios() {
    return List.of(SCENARIO, Scenario.GATED_SHUFFLE);
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return GatedShuffle.settings(super.settings(application))
        .set("spark.shuffle.rdma.connectTimeout", "1s")
        .set("spark.metrics.conf", Scrape.CONF.resolve("metrics.properties"));
  }

  @Override
  String ui() {
    return cluster().session().sparkContext().uiWebUrl().get();
  }

  @Test
  void shouldTellWhoseDeviceIsLostAndGoOnByTcp() {
    runAndAwaitReports();
    List<String> executors = List.copyOf(Executors.running().keySet());
    String lost = executors.getFirst();
    String other = executors.getLast();
    awaitLost(Map.of(lost, 0L, other, 0L));

    Traffic before = cluster().traffic();
    GatedShuffle shuffle = new GatedShuffle();
    shuffle.start(cluster());
    standIn.faults("device_fatal process=" + Executors.mark(lost));
    awaitLost(Map.of(lost, 1L, other, 0L));
    assertResult(Scenario.GATED_SHUFFLE, shuffle.finish());
    Outcome after = cluster().run(SCENARIO);

    assertResult(SCENARIO, after.lines());
    Traffic traffic = cluster().traffic().since(before);
    assertEquals(0, traffic.fetchFailures(), traffic::toString);
    assertTrue(traffic.fallbacks().containsKey("DEVICE_ERROR"), traffic::toString);
    assertEquals(0, after.traffic().bytesByRdma(), after.traffic()::toString);
    assertEquals(after.traffic().remoteBytes(), after.traffic().bytesByTcp());
    Scrape scrape = Scrape.of(ui());
    assertEquals(1, scrape.value("verbatim_devicesLost"));
    assertEquals(1, scrape.value("verbatim_portsActive"));
    assertEquals(EXECUTORS, scrape.value("verbatim_registry_executorsWithRdma"));
    awaitTab(executor -> executor.equals(lost) ? "DEVICE_LOST" : "PORT_ACTIVE");
    String text = browser.text();
    assertTrue(text.contains("2 with RDMA, 1 of them with an active port; 0 without"), text);
    picture("rdma-device-lost");
  }

  /** What the alert VerbatimDeviceLost looks at. */
  private void awaitLost(Map<String, Long> expected) {
    Deadline.await(
        "lost devices " + expected,
        Duration.ofSeconds(30),
        () -> devicesLost().equals(expected),
        this::devicesLost);
  }

  private Map<String, Long> devicesLost() {
    return Scrape.of(ui())
        .named("verbatim_executor_devicesLost")
        .collect(
            Collectors.toMap(
                series -> series.labels().get("executor"),
                series -> (long) series.value(),
                Long::sum,
                TreeMap::new));
  }
}
