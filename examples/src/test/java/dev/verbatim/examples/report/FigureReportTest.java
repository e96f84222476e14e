package dev.verbatim.examples.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FigureReportTest {
  private static final Machine MACHINE =
      new Machine("a CPU", 2, 24_000_000_000L, "Linux 6.1", "a JDK 25.0.3");
  private static final Pattern CONTENT = Pattern.compile("const content = (.*);\n");

  @TempDir private Path folder;

  private static FigureReport report() {
    Map<String, List<Figure>> benches = new LinkedHashMap<>();
    benches.put(
        "registry",
        List.of(
            Figures.compared(List.of(5.0, 6.0), List.of(100.0, 60.0), "ratio <= 0.1"),
            Figures.compared(List.of(5.0), List.of(10.0), "ratio <= 0.1"),
            Figures.point(10, 20, 5),
            Figures.point(100, 200, 5)));
    benches.put("memory", List.of(Figures.alone(3)));
    return new FigureReport(MACHINE, "53b78ae", "2026-11-30T01:00:00Z", benches);
  }

  private static JsonNode content(String html) throws IOException {
    Matcher content = CONTENT.matcher(html);
    assertTrue(content.find());
    return new ObjectMapper().readTree(content.group(1));
  }

  @Test
  void shouldLineUpItsTable() {
    List<String> lines = report().text().lines().toList();

    assertEquals("registry", lines.get(0));
    assertEquals(
        "table-bytes bytes verbatim 5.500 (5 to 6) spark 80 (60 to 100) 0.0750 (0.0500 to 0.100)"
            + " ratio <= 0.1 met",
        lines.get(2).replaceAll(" +", " "));
    assertEquals(lines.get(1).indexOf("against"), lines.get(2).indexOf("spark 80"));
    assertTrue(lines.get(3).endsWith("MISSED"), lines.get(3));
    assertTrue(lines.get(5).startsWith("bytes-by-maps, 100 maps"), lines.get(5));
  }

  @Test
  void shouldWriteAllThatAProgramNeeds() throws IOException {
    report().write(folder);

    JsonNode json = new ObjectMapper().readTree(folder.resolve("bench.json").toFile());
    JsonNode first = json.at("/benches/registry/0");
    assertEquals("a CPU", json.at("/machine/cpu").asText());
    assertEquals("53b78ae", json.at("/commit").asText());
    assertEquals("[5.0,6.0]", first.at("/figure/ours/values").toString());
    assertEquals("[100.0,60.0]", first.at("/figure/against/values").toString());
    assertEquals(0.05, first.at("/ratio/min").asDouble(), 1e-9);
    assertEquals(0.1, first.at("/ratio/max").asDouble(), 1e-9);
    assertEquals("[\"ratio <= 0.1\"]", first.at("/figure/goals").toString());
    assertEquals("[true]", first.at("/met").toString());
    assertEquals("[false]", json.at("/benches/registry/1/met").toString());
    assertTrue(json.at("/benches/memory/0/ratio").isNull());
  }

  @Test
  void shouldMakeAPageThatNeedsNothingElse() throws IOException {
    report().write(folder);

    String html = Files.readString(folder.resolve("bench.html"));

    assertTrue(html.contains("Apache Software Foundation"), "the library with its licence");
    assertTrue(html.contains("content=\"default-src 'none';"), "a browser loads nothing");
    assertFalse(Pattern.compile("(src|href)=").matcher(html.split("</script>")[1]).find());
    assertFalse(Pattern.compile("(src|href)=").matcher(html.split("<script>")[0]).find());
    assertEquals(2, html.split("<script>", -1).length - 1, "the library holds no element's end");
    assertEquals(2, html.split("</script>", -1).length - 1);
  }

  @Test
  void shouldShowRatiosAndSlopes() throws IOException {
    JsonNode content = content(report().page().html());

    JsonNode blocks = content.at("/sections/0/blocks");
    JsonNode ratios = blocks.get(1).get("option");
    JsonNode curve = blocks.get(2).get("option");
    assertEquals(3, blocks.size());
    assertEquals(
        """
        table-bytes: bytes of a table. simulated clients
        Bytes by maps: bytes of a table\
        """,
        content.at("/sections/0/text").asText());
    assertEquals("[0.05,\"table-bytes\"]", ratios.at("/series/0/data/0").toString());
    assertEquals("[0.1,\"table-bytes\"]", ratios.at("/series/2/data/0").toString());
    assertEquals("verbatim, slope 1.00", curve.at("/series/0/name").asText());
    assertEquals("spark, slope 0.00", curve.at("/series/1/name").asText());
    assertEquals("[[10.0,20.0],[100.0,200.0]]", curve.at("/series/0/data").toString());
    assertEquals(1, content.at("/sections/1/blocks").size(), "no chart without a comparison");
  }

  @Test
  void shouldSayWhereAFigureIsFromWhenThatIsAnotherPlace() throws IOException {
    Machine guest = new Machine("QEMU", 2, 4_000_000_000L, "Linux 6.12", "a JDK 25.0.3");
    Figure figure = Figures.alone(3);
    FigureReport report =
        new FigureReport(
            MACHINE,
            "53b78ae",
            "2026-11-30T01:00:00Z",
            Map.of(
                "memory",
                List.of(
                    figure,
                    figure.from(new Origin(MACHINE, "53b78ae", "2026-11-30T00:30:00Z")),
                    figure.from(new Origin(guest, "53b78ae", "2026-11-30T00:31:00Z")),
                    figure.from(new Origin(guest, "53b78ae", "2026-11-30T00:32:00Z")))));

    assertEquals(
        """
        heap: heap per map output
        Measured on: QEMU, 2 cores; 4 GB; Linux 6.12; a JDK 25.0.3; commit 53b78ae\
        """,
        content(report.page().html()).at("/sections/0/text").asText());
    report.write(folder);
    JsonNode json = new ObjectMapper().readTree(folder.resolve("bench.json").toFile());
    assertEquals("QEMU", json.at("/benches/memory/2/figure/origin/machine/cpu").asText());
  }

  @Test
  void shouldShowTextsAsTheyAre() throws IOException {
    String text = "</script><script>alert(1)</script><!-- & \"";
    String html =
        new Page("t", Map.of())
            .section(text, text)
            .table(List.of(text), List.of(List.of(text)))
            .html();

    assertEquals(2, html.split("</script>", -1).length - 1);
    assertEquals(text, content(html).at("/sections/0/title").asText());
    assertEquals(text, content(html).at("/sections/0/blocks/0/rows/0/0").asText());
  }

  @Test
  void shouldDescribeThisMachine() {
    Machine here = Machine.here();

    assertTrue(here.memoryBytes() > 1 << 28, here.toString());
    assertTrue(here.kernel().startsWith("Linux "), here.kernel());
    assertTrue(here.jdk().contains("25."), here.jdk());
  }
}
