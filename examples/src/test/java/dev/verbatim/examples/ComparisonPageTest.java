package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.verbatim.examples.browser.Browser;
import dev.verbatim.examples.tpcds.TpcdsJar;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a browser shows of a comparison's page. */
class ComparisonPageTest {
  private static final int LEGEND_BOTTOM = 55;
  private static final List<String> FIVE = List.of("q1", "q2", "q14a", "q10", "terasort:1000x4");

  /** Bars of one colour in the chart of a title: their left, top and width in pixels. */
  private static final String BARS =
      """
      const svg = document.querySelector(`figure[aria-label^="Chart: ${arguments[0]}"] svg`);
      const all = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('path')]
        .filter(path => path.getAttribute('fill') === arguments[1])
        .map(path => path.getBoundingClientRect())
        .filter(box => box.top - all.top > arguments[2])
        .map(box => [box.left, box.top, box.width]);
      """;

  /** The texts of a table's body beside the chart of a title. */
  private static final String CELLS =
      """
      const chart = document.querySelector(`figure[aria-label^="Chart: ${arguments[0]}"]`);
      return [...chart.parentElement.querySelectorAll('tbody tr')]
        .map(row => [...row.cells].map(cell => cell.textContent));
      """;

  private static final String FIRST = "#5470c6";
  private static final String SECOND = "#91cc75";
  private static final String THIRD = "#fac858";

  @TempDir private static Path folder;
  private static Browser browser;

  @BeforeAll
  static void start() {
    browser = Browser.start(folder);
  }

  @AfterAll
  static void end() {
    browser.close();
  }

  @AfterEach
  void hasNeitherErrorsNorRequests() {
    assertEquals(List.of(), browser.errors());
    assertEquals(
        0, browser.script("return performance.getEntriesByType('resource').length").asInt());
  }

  private static void open(RunReport run) throws IOException {
    Path page = folder.resolve("comparison.html");
    new RunFiles(folder.resolve("comparison.json"), page).write(run);
    browser.show(1280, 900, false);
    browser.open(page.toUri());
    assertEquals("yes", browser.script("return document.body.dataset.complete").asText());
  }

  private static List<double[]> bars(String title, String colour) {
    List<double[]> bars = new ArrayList<>();
    for (JsonNode bar : browser.script(BARS, title, colour, LEGEND_BOTTOM)) {
      bars.add(new double[] {bar.get(0).asDouble(), bar.get(1).asDouble(), bar.get(2).asDouble()});
    }
    return bars;
  }

  private static List<List<String>> cells(String title) {
    List<List<String>> rows = new ArrayList<>();
    for (JsonNode row : browser.script(CELLS, title)) {
      List<String> cells = new ArrayList<>();
      row.forEach(cell -> cells.add(cell.asText()));
      rows.add(cells);
    }
    return rows;
  }

  private static boolean fitsTheWindow() {
    return browser.script("return document.documentElement.scrollWidth <= innerWidth").asBoolean();
  }

  /** Job i takes i + 1 seconds, and 1.25 times that. */
  private static void assertTimesAreDrawn(int jobs) {
    List<double[]> sort = bars("Time", FIRST);
    List<double[]> verbatim = bars("Time", SECOND);
    assertEquals(jobs, sort.size());
    assertEquals(jobs, verbatim.size());
    double pixelsPerSecond = verbatim.getLast()[2] / (1.25 * jobs);
    assertTrue(verbatim.getLast()[2] > 100, "the longest takes most of the chart");
    for (int i = 0; i < jobs; i++) {
      assertEquals(pixelsPerSecond * (i + 1), sort.get(i)[2], 1, "sort's bar " + i);
      assertEquals(pixelsPerSecond * 1.25 * (i + 1), verbatim.get(i)[2], 1, "our bar " + i);
      assertTrue(sort.get(i)[1] < verbatim.get(i)[1], "sort's is above ours");
      assertTrue(i == 0 || verbatim.get(i - 1)[1] < sort.get(i)[1], "in order");
    }
  }

  @Test
  void shouldDrawBarsInProportionAndTellTheSameBesideThem() throws IOException {
    open(Reports.complete(1, FIVE));

    assertTimesAreDrawn(5);
    assertEquals(List.of("q14a", "3", "3.750", "1,234", "OK"), cells("Time").get(2));
    assertEquals(FIVE, cells("Time").stream().map(List::getFirst).toList());
    assertEquals(List.of("q2", "1.250", "1"), cells("ours / against").get(1));
    assertTrue(browser.text().contains("geometric mean of the ratios 1.25"), browser::text);
    assertTrue(browser.text().contains("complete, 10 of 10 runs of jobs"), browser::text);
  }

  @Test
  void shouldStackBytesByTransport() throws IOException {
    open(Reports.complete(1, FIVE));

    double[] sort = bars("From other executors", FIRST).getFirst();
    double[] rdma = bars("From other executors", SECOND).getFirst();
    double[] tcp = bars("From other executors", THIRD).getFirst();
    assertEquals(rdma[2] / 1.2, sort[2] / 1.5, 1, "1.2 MB by RDMA beside 1.5 MB");
    assertEquals(rdma[2] / 1.2, tcp[2] / 0.3, 4, "0.3 MB by TCP");
    assertEquals(rdma[0] + rdma[2], tcp[0], 1, "one continues the other");
    assertEquals(
        List.of("q1", "2", "0.500", "1.500", "1.200", "0.300"),
        cells("From other executors").getFirst());
    assertEquals(
        List.of("q1", "10", "10", "0.300 / 0.100 / 4", "0.300 / 0.100 / 4"),
        cells("Waiting and writing").getFirst());
    assertEquals(List.of("NO_DEVICE", "35", "5"), cells("Left to TCP").getFirst());
  }

  @Test
  void shouldShowMedianAndRangeWhenThereAreRounds() throws IOException {
    open(Reports.complete(3, List.of("q1")));

    assertEquals(
        List.of("q1", "1.100 (1 to 1.200)", "1.375 (1.250 to 1.500)", "1,234", "OK"),
        cells("Time").getFirst());
    assertEquals(List.of("q1", "1.250", "3"), cells("ours / against").getFirst());
    assertEquals(1, bars("Time", FIRST).size());
    assertTrue(fitsTheWindow());
  }

  @Test
  void shouldShowAllQueriesAlsoInANarrowWindow() throws IOException {
    List<String> all = new TpcdsJar(Path.of("target/tpcds/spark-sql-tests.jar")).queryNames();
    open(Reports.complete(1, all));

    assertTimesAreDrawn(103);
    assertEquals(all, cells("Time").stream().map(List::getFirst).toList());
    assertTrue(fitsTheWindow());
    String labels =
        "return [...document.querySelectorAll('figure[aria-label^=\"Chart: Time\"] text')]"
            + ".filter(text => /^q\\d+[ab]?$/.test(text.textContent)).length";
    assertEquals(103, browser.script(labels).asInt());

    browser.show(420, 900, false);
    browser.await("document.querySelector('figure').getBoundingClientRect().width < 420");
    browser.await("document.querySelector('figure svg').getBoundingClientRect().width < 420");
    assertTrue(fitsTheWindow());
    assertTimesAreDrawn(103);
  }

  @Test
  void shouldBeDarkWhenTheUserWantsItSo() throws IOException {
    open(Reports.complete(1, FIVE));
    String brightness =
        "return getComputedStyle(document.body)[arguments[0]].match(/\\d+/g).slice(0, 3)"
            + ".reduce((sum, part) => sum + Number(part), 0)";
    assertTrue(browser.script(brightness, "backgroundColor").asInt() > 700);

    browser.show(1280, 900, true);
    assertTrue(browser.script(brightness, "backgroundColor").asInt() < 100);
    assertTrue(browser.script(brightness, "color").asInt() > 600);
    String drawnAgain =
        "(fills => fills.length > 0 && !fills.includes('%s'))"
            + "([...document.querySelectorAll('figure svg path')]"
            + ".map(path => path.getAttribute('fill')))";
    browser.await(drawnAgain.formatted(FIRST));
    assertEquals(0, bars("Time", FIRST).size(), "drawn again, in other colours");
  }

  @Test
  void shouldShowWhatFailedDifferedAndIsMissing() throws IOException {
    String error = "SparkException: </script><img src=x onerror=alert(1)> & \"quoted\"";
    JobReport q1 = Reports.job("q1", 1, new TransferBytes(1, 0));
    RunReport run =
        Reports.run(1, List.of("q1", "q2", "q3"))
            .with(
                new ApplicationReport(
                    "sort",
                    1,
                    Reports.SPARK,
                    List.of(q1, Reports.job("q2", 2, null), Reports.job("q3", 2, null))))
            .with(
                new ApplicationReport(
                    "verbatim",
                    1,
                    Reports.VERBATIM,
                    List.of(
                        Reports.different(q1, "2 rows became 3"),
                        JobReport.failed("q2", 0.5, error))));
    open(run);

    assertEquals(
        List.of("DIFFERENT", "FAILED", "not complete"),
        cells("Time").stream().map(List::getLast).toList());
    assertEquals(1, bars("Time", FIRST).size(), "what was compared");
    String text = browser.text();
    assertTrue(text.contains("NOT COMPLETE, 5 of 6 runs of jobs, 1 FAILED"), text);
    assertTrue(text.contains(error), text);
    assertTrue(text.contains("2 rows became 3"), text);
    assertEquals(0, browser.script("return document.images.length").asInt());
    String bad =
        "return [...document.querySelectorAll('td.bad')].map(cell => cell.textContent).join()";
    assertEquals("DIFFERENT,FAILED,DIFFERENT,FAILED", browser.script(bad).asText());
  }

  @Test
  void shouldSayThatNothingWasComparedYet() throws IOException {
    open(Reports.run(1, FIVE));

    assertTrue(browser.text().contains("No job was run under both."), browser::text);
    assertEquals(0, browser.script("return document.querySelectorAll('figure').length").asInt());
  }

  @Test
  void shouldSortByTheColumnThatIsClicked() throws IOException {
    open(Reports.complete(1, FIVE));
    String click =
        "document.querySelectorAll('.pair table')[0].tHead.rows[0].cells[arguments[0]]"
            + ".querySelector('button').click()";

    browser.script(click, 0);
    assertEquals(
        List.of("q1", "q2", "q10", "q14a", "terasort:1000x4"),
        cells("Time").stream().map(List::getFirst).toList());
    browser.script(click, 2);
    browser.script(click, 2);
    assertEquals(
        IntStream.of(4, 3, 2, 1, 0).mapToObj(FIVE::get).toList(),
        cells("Time").stream().map(List::getFirst).toList());
    assertEquals(
        "descending",
        browser.script("return document.querySelector('th[aria-sort]').ariaSort").asText());
  }

  @Test
  void shouldHaveATableBesideEachChartForThoseWhoDoNotSeeIt() throws IOException {
    open(Reports.complete(1, FIVE));
    String alone =
        "return [...document.querySelectorAll('figure')].filter(figure =>"
            + " figure.role !== 'img' || !figure.ariaLabel || !figure.parentElement.querySelector("
            + "'table[aria-label] th[scope=col]')).length";
    assertEquals(0, browser.script(alone).asInt());
    assertEquals(5, browser.script("return document.querySelectorAll('figure').length").asInt());
    assertFalse(browser.script("return document.title").asText().isEmpty());
  }
}
