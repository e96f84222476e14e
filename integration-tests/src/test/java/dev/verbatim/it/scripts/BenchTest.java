package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbatim.examples.report.Machine;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code scripts/bench} leaves, and what it refuses. */
@Tag("scripts")
class BenchTest {
  @TempDir private Path folder;

  private Script bench() {
    return new Script("bench", folder)
        .with("JAVA_HOME", System.getProperty("java.home"))
        .with("VERBATIM_BUILT", "yes"); // a build would replace what this test runs from
  }

  /** The programs on both sides are real, the device is the stand-in. */
  @Test
  void shouldLeaveFiguresAndAPageOfThisRunWhenABenchHasMeasured() throws Exception {
    bench()
        .run("read-cost", "--rounds", "1", "--out", "out", "--", "4096", "64")
        .exits(0)
        .says("read-cost-4096-bytes-batch-64", "bench.html");

    JsonNode json = new ObjectMapper().readTree(folder.resolve("out/bench.json").toFile());
    JsonNode cost = json.at("/benches/read-cost/0");
    JsonNode figure = cost.get("figure");
    assertEquals(new ObjectMapper().writeValueAsString(Machine.here()), machine(json));
    assertFalse(json.get("commit").asText().isBlank());
    assertEquals(2, json.at("/benches/read-cost").size());
    assertEquals("read-cost-4096-bytes-batch-64", figure.get("name").asText());
    assertEquals(2, cost.get("met").size());
    assertEquals(1, figure.at("/against/values").size());
    assertEquals(
        figure.at("/ours/values/0").asDouble() / figure.at("/against/values/0").asDouble(),
        cost.at("/ratio/median").asDouble(),
        1e-6);
    String note = figure.get("note").asText();
    assertTrue(note.contains("64 deep and signal each 16th READ"), note);
    assertEquals(machine(json), machine(figure.get("origin")));
    assertEquals(json.get("commit"), figure.at("/origin/commit"));
    String html = Files.readString(folder.resolve("out/bench.html"));
    assertTrue(html.contains("read-cost-4096-bytes-batch-64"));
    assertTrue(html.contains("\"Commit\":" + json.get("commit")));
  }

  private static String machine(JsonNode parent) {
    return parent.get("machine").toString();
  }

  @Test
  void shouldRefuseArgumentsThatAreOfNoOneBench() throws Exception {
    bench().run("registry", "memory", "--", "x").exits(2).says("2 are named");
    bench().run("--", "x").exits(2).says("0 are named");
    bench().run("nothing").exits(2).says("no bench nothing");
  }
}
