package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.verbatim.examples.browser.Browser;
import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Places;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.shuffle.RdmaShuffleManager;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.metrics.ShuffleReport;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The tab RDMA in a browser, against what the application counts itself. */
abstract class UiTests extends ApplicationTests {
  static final int EXECUTORS = 2;
  static final Scenario SCENARIO = Scenario.GROUP_BY_KEY;

  private static final Path PICTURES = Places.work().resolve("pictures");

  final StandIn standIn;
  Browser browser;

  UiTests() {
    StandIn device = new StandIn();
    super(device);
    standIn = device;
  }

  @BeforeAll
  final void startBrowser() {
    browser = Browser.start(Places.temporary("browser"));
  }

  @AfterAll
  final void stopBrowser() {
    if (browser != null) {
      browser.close();
    }
  }

  @Override
  Collection<Scenario> scenarios() {
    return List.of(SCENARIO);
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return application.executors(EXECUTORS).shown();
  }

  /** Where the user interface is, without a slash at its end. */
  abstract String ui();

  final String applicationId() {
    return cluster().session().sparkContext().applicationId();
  }

  /** Runs a job and waits until executors have reported all of it. */
  final Outcome runAndAwaitReports() {
    Outcome outcome = runUndisturbed(SCENARIO);
    Deadline.await(
        "report of the regions that the device has",
        Duration.ofSeconds(30),
        () ->
            RdmaShuffleManager.report().total().transport().memoryRegions()
                == standIn.counters().values().stream().mapToLong(p -> p.get("mrs")).sum(),
        RdmaShuffleManager::report);
    return outcome;
  }

  /** Shows a page of the user interface; nothing that it needs may be missing. */
  final void show(String path) {
    browser.open(URI.create(ui() + path));
    assertEquals(List.of(), browser.errors(), browser.address()::toString);
  }

  final void picture(String name) {
    browser.screenshot(PICTURES.resolve(name + ".png"));
  }

  /** A cell of a table: what is shown, and what is when the mouse is over it. */
  record Cell(String text, String title) {}

  /** Rows of a table of the page that is shown, by their first cell and the column's title. */
  final Map<String, Map<String, Cell>> rows(String table) {
    JsonNode found =
        browser.script(
            """
            const table = document.getElementById(arguments[0]);
            const titles = [...table.tHead.querySelectorAll('th')].map(
                title => title.innerText.replace(/[▾▴]/, '').trim());
            return [...table.tBodies[0].rows].map(row =>
                [...row.cells].map((cell, i) => [titles[i], cell.innerText.trim(), cell.title]));
            """,
            table);
    Map<String, Map<String, Cell>> rows = new TreeMap<>();
    for (JsonNode row : found) {
      Map<String, Cell> cells = new TreeMap<>();
      row.forEach(
          cell ->
              cells.put(
                  cell.get(0).asText(), new Cell(cell.get(1).asText(), cell.get(2).asText())));
      rows.put(row.get(0).get(1).asText(), cells);
    }
    return rows;
  }

  /** Waits until the tab shows what was reported, which may become more at any time. */
  final void awaitTab(String port) {
    awaitTab(executor -> port);
  }

  /**
   * The same where ports differ.
   *
   * @param ports state of each executor's, by its id
   */
  final void awaitTab(UnaryOperator<String> ports) {
    AssertionError[] last = {null};
    Deadline.await(
        "a tab that agrees with the report",
        Duration.ofSeconds(30),
        () -> {
          try {
            show("/rdma/");
            assertShows(RdmaShuffleManager.report(), ports);
            return true;
          } catch (AssertionError e) {
            last[0] = e;
            return false;
          }
        },
        () -> last[0]);
  }

  /** Checks that the page that is shown says what was reported. */
  final void assertShows(ShuffleReport report, String port) {
    assertShows(report, executor -> port);
  }

  private void assertShows(ShuffleReport report, UnaryOperator<String> ports) {
    Map<String, Map<String, Cell>> executors = rows("executors-table");
    assertEquals(report.executors().keySet(), executors.keySet());
    report
        .executors()
        .forEach(
            (id, executor) -> {
              Map<String, Cell> cells = executors.get(id);
              CounterSnapshot counters = executor.counters();
              assertEquals(ports.apply(id), cells.get("Port State").text());
              assertEquals(executor.device(), cells.get("Device").text());
              assertEquals(executor.mode(), cells.get("Device").title());
              assertTrue(executor.mode().contains(executor.device()), executor.mode());
              assertBytes(counters.registeredBytes(), cells.get("Registered"));
              assertBytes(counters.bytesByRdma(), cells.get("Read by RDMA"));
              assertBytes(counters.bytesByTcp(), cells.get("Read by TCP"));
              assertEquals(counters.regions() + "", cells.get("Regions").text());
              assertEquals(counters.blocksByRdma() + "", cells.get("RDMA Blocks").text());
              assertEquals(counters.blocksByTcp() + "", cells.get("TCP Blocks").text());
              assertEquals(counters.transport().readsCompleted() + "", cells.get("READs").text());
              assertEquals(
                  counters.transport().readLatency().quantileNanos(0.99) + " ns",
                  cells.get("READ 99 %").title());
              List<String> fallbacks = new ArrayList<>();
              counters.fallbacks().forEach((reason, n) -> fallbacks.add(reason + ": " + n));
              assertEquals(
                  fallbacks.stream().sorted().toList(),
                  cells.get("Fallbacks").text().lines().toList());
            });
    long outputs = report.total().outputsRegistered();
    assertEquals(
        outputs,
        rows("shuffles-table").values().stream()
            .mapToLong(cells -> Long.parseLong(cells.get("Registered Outputs").text()))
            .sum());
    assertTrue(outputs > 0);
  }

  private static void assertBytes(long bytes, Cell cell) {
    assertEquals(bytes + " bytes", cell.title());
    assertTrue(cell.text().matches("[\\d.]+ ([KMG]i)?B"), cell.text());
  }

  @Override
  void checkAfterStop() {
    standIn.assertNothingLeft();
  }
}
