package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs, with Spark in JVMs of its own. */
class ComparisonRunTest {
  private static final String JOBS = "blocks:2x3,blocks:2x7,blocks:2x5,terasort:1000x2";

  @TempDir private Path folder;

  private int compare(String... more) {
    List<String> arguments =
        List.of(
            "--master=local[1]",
            "--jobs=" + JOBS,
            "--managers=sort," + BrokenShuffle.class.getName(),
            "--jvm-flags=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "--logs=" + folder.resolve("logs"),
            "--json=" + folder.resolve("run.json"),
            "--html=" + folder.resolve("run.html"));
    return CompareShuffles.commandLine()
        .execute(Stream.concat(arguments.stream(), List.of(more).stream()).toArray(String[]::new));
  }

  private JsonNode json() throws IOException {
    return new ObjectMapper().readTree(folder.resolve("run.json").toFile());
  }

  /** Reports of a manager's jobs by name. */
  private TreeMap<String, JsonNode> jobs(String label) throws IOException {
    TreeMap<String, JsonNode> jobs = new TreeMap<>();
    for (JsonNode application : json().at("/run/applications")) {
      if (application.get("label").asText().equals(label)) {
        application.get("jobs").forEach(job -> jobs.put(job.get("job").asText(), job));
      }
    }
    return jobs;
  }

  @Test
  void shouldRunAllOtherJobsWhenOneFailsAndOneEndsSpark() throws IOException {
    assertEquals(3, compare());

    JsonNode first = json();
    assertTrue(first.get("complete").asBoolean());
    assertEquals(8, first.get("done").asInt());
    assertEquals(2, first.get("failed").asInt());
    assertEquals("4.2.0", first.at("/run/applications/0/facts/version").asText());
    TreeMap<String, JsonNode> sort = jobs("sort");
    TreeMap<String, JsonNode> broken = jobs("BrokenShuffle");
    sort.values().forEach(job -> assertTrue(job.get("error").isNull(), job::toString));
    assertEquals(
        "java.lang.IllegalStateException: no shuffle of 7 here",
        broken.get("blocks:2x7").get("error").asText());
    String ended = broken.get("blocks:2x5").get("error").asText();
    assertTrue(ended.contains("ended with exit code " + BrokenShuffle.EXIT_CODE), ended);
    for (String job : List.of("blocks:2x3", "terasort:1000x2")) {
      assertTrue(broken.get(job).get("error").isNull(), job);
      assertTrue(broken.get(job).get("difference").isNull(), job);
      assertEquals(sort.get(job).get("rows"), broken.get(job).get("rows"), job);
    }
    assertEquals(2, first.at("/comparisons/0/overall/jobs").asInt());
    assertTrue(Files.readString(folder.resolve("run.html")).contains("no shuffle of 7 here"));

    assertEquals(3, compare("--resume"));
    assertEquals(2, json().get("failed").asInt());
    assertEquals(sort, jobs("sort"), "is not run again");
    assertEquals(broken.get("blocks:2x3"), jobs("BrokenShuffle").get("blocks:2x3"));
    assertTrue(
        !broken.get("blocks:2x7").equals(jobs("BrokenShuffle").get("blocks:2x7")),
        "what failed is run again");
  }
}
