package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Gateway;
import dev.verbatim.it.spark.fixture.HistoryServer;
import dev.verbatim.it.spark.fixture.Places;
import dev.verbatim.it.spark.fixture.SparkRest;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.shuffle.RdmaShuffleManager;
import dev.verbatim.shuffle.metrics.ShuffleReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

@Tag("standin")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StandInUiTest extends UiTests {
  /** What Spark tells of a stage wherever its blocks come from, and however they travel. */
  private static final List<String> COLUMNS =
      List.of("shuffleReadBytes", "shuffleReadRecords", "shuffleWriteBytes", "shuffleWriteRecords");

  private final Path events = Places.temporary("events");
  private List<List<Long>> stockStages;
  private ShuffleReport last;

  /** Null while the driver's is to be seen. */
  private String historyUi;

  @Override
  String ui() {
    return historyUi == null ? cluster().session().sparkContext().uiWebUrl().get() : historyUi;
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    try (TestCluster stock =
        super.settings(TestCluster.builder("stock-columns"))
            .set("spark.shuffle.manager", "sort")
            .start()) {
      SCENARIO.run(stock.session());
      stockStages = stages(SparkRest.stages(stock.session().sparkContext()));
    }
    return super.settings(application)
        .set("spark.eventLog.enabled", true)
        .set("spark.eventLog.dir", events.toUri());
  }

  /** The columns of each stage that shuffles, and its blocks. */
  private static List<List<Long>> stages(JsonNode stages) {
    List<List<Long>> all = new ArrayList<>();
    for (JsonNode stage : stages) {
      List<Long> values = new ArrayList<>();
      COLUMNS.forEach(column -> values.add(stage.get(column).asLong()));
      values.add(
          stage.get("shuffleLocalBlocksFetched").asLong()
              + stage.get("shuffleRemoteBlocksFetched").asLong());
      values.add(
          stage.get("shuffleLocalBytesRead").asLong()
              + stage.get("shuffleRemoteBytesRead").asLong());
      if (values.stream().anyMatch(value -> value > 0)) {
        all.add(values);
      }
    }
    return all;
  }

  @Test
  @Order(1)
  void shouldTellInSparksOwnColumnsWhatTheStockManagerTells() {
    Outcome outcome = runAndAwaitReports();
    JsonNode stages = SparkRest.stages(cluster().session().sparkContext());

    assertEquals(2, stockStages.size(), stockStages::toString);
    assertEquals(stockStages, stages(stages));
    ShuffleReport report = RdmaShuffleManager.report();
    assertEquals(
        report.bytesByRdma() + report.bytesByTcp(),
        SparkRest.sum(stages, "shuffleRemoteBytesRead"));
    assertEquals(
        report.blocksByRdma() + report.blocksByTcp(),
        SparkRest.sum(stages, "shuffleRemoteBlocksFetched"));
    assertEquals(outcome.traffic().remoteBytes(), report.bytesByRdma());
  }

  @Test
  @Order(2)
  void shouldShowWhatTheExecutorsHaveReported() {
    openTab();
    awaitTab("PORT_ACTIVE");
    assertSummaryAndAddresses();
    picture("rdma-live");
  }

  @Test
  @Order(3)
  void shouldOrderTheTableWhenAHeaderIsClicked() {
    show("/rdma/");
    orderByReads();
    assertShows(RdmaShuffleManager.report(), "PORT_ACTIVE");
  }

  @Test
  @Order(4)
  void shouldShowThatThePortIsDownAndWhatFellBack() {
    standIn.portDown();
    awaitPorts(0);
    cluster().run(SCENARIO);
    awaitTab("PORT_DOWN");
    Map<String, Cell> row = rows("executors-table").values().iterator().next();
    assertTrue(row.get("Fallbacks").text().contains("PORT_NOT_ACTIVE: "), row::toString);
    picture("rdma-port-down");
    standIn.portUp();
    awaitPorts(EXECUTORS);
  }

  private void awaitPorts(int active) {
    Deadline.await(
        active + " active ports",
        Duration.ofSeconds(30),
        () -> RdmaShuffleManager.report().total().transport().portsActive() == active,
        RdmaShuffleManager::report);
  }

  /** As a user finds it. */
  private void openTab() {
    show("/executors/");
    String link = "document.querySelector('a[href$=\"/rdma/\"]')";
    browser.await(link);
    browser.script(link + ".click()");
    browser.await("document.getElementById('executors-table')");
    assertEquals(List.of(), browser.errors());
    assertTrue(browser.script("return document.title").asText().contains("RDMA"));
  }

  private void assertSummaryAndAddresses() {
    String text = browser.text();
    assertTrue(text.contains("2 with RDMA, 2 of them with an active port; 0 without"), text);
    rows("executors-table")
        .values()
        .forEach(row -> assertTrue(row.get("Address").text().matches(".+:\\d+"), row::toString));
  }

  /** Clicks the header, once for each direction. */
  private void orderByReads() {
    for (String direction : List.of("▴", "▾")) {
      browser.script(
          """
          [...document.querySelectorAll('#executors-table th a')]
              .find(link => link.innerText.startsWith('READs')).click()
          """);
      browser.await(
          "[...document.querySelectorAll('#executors-table th')]"
              + ".some(title => title.innerText.startsWith('READs')"
              + " && title.innerText.includes('"
              + direction
              + "'))");
    }
    assertEquals(List.of(), browser.errors());
  }

  /** What executors tell while they end comes after the last event for the event log. */
  @AfterAll
  final void keepReport() {
    last = RdmaShuffleManager.report();
  }

  /** The event log is complete now; a history server shows the same. */
  @Override
  void checkAfterStop() {
    super.checkAfterStop();
    try (HistoryServer history = new HistoryServer(events);
        Gateway gateway = new Gateway(history.url())) {
      history.await(applicationId());
      startBrowser(); // the one of the tests is closed by now
      for (String url : List.of(history.url(), gateway.url())) {
        historyUi = url + "/history/" + applicationId();
        openTab();
        assertEquals(historyUi + "/rdma/", browser.address().toString());
        assertShows(last, "PORT_ACTIVE");
        assertSummaryAndAddresses();
        orderByReads();
        assertShows(last, "PORT_ACTIVE");
      }
      picture("rdma-history");
    } finally {
      stopBrowser();
    }
  }
}
