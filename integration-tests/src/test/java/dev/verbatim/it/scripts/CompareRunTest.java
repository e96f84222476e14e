package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.verbatim.examples.browser.Browser;
import dev.verbatim.it.machine.Command;
import dev.verbatim.it.spark.fixture.Deadline;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code scripts/compare} from the build to the page, on two executors, in a checkout of its own:
 * the build would replace the jars that this JVM runs on.
 */
@Tag("scripts")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class CompareRunTest {
  private static final List<String> MANAGERS = List.of("sort", "verbatim");

  /** Reads no table that q12 does not read. */
  private static final String QUERY = "q86";

  private static final String SORT = "terasort:2000x4";

  @TempDir private static Path folder;

  private static Path checkout;

  @BeforeAll
  static void copyTheSources() throws IOException {
    checkout =
        Checkout.of(
            folder.resolve("checkout"),
            "pom.xml",
            "mvnw",
            ".mvn",
            "LICENSE",
            "scripts",
            "rdma-transport",
            "shuffle-manager",
            "examples",
            "integration-tests/pom.xml");
    shareSparksJars();
  }

  /** They are 278 MB, which other tests of scripts want too. */
  private static void shareSparksJars() throws IOException {
    Command.run(
        "bash",
        "-euc",
        "cd '%s'; . scripts/lib/jdk.sh; . scripts/lib/spark-home.sh; assemble_spark_home work/spark-home"
            .formatted(Script.ROOT));
    Path all = Script.ROOT.resolve("work/spark-home");
    Path own = Files.createDirectories(checkout.resolve("work/spark-home"));
    Files.copy(all.resolve(".complete"), own.resolve(".complete"));
    Files.createSymbolicLink(own.resolve("jars"), all.resolve("jars"));
  }

  private static Script.Result compare(String jobs, Path out)
      throws IOException, InterruptedException {
    Script.Result result =
        new Script(checkout.resolve("scripts/compare"), folder)
            .run(
                "--scale",
                "0.01",
                "--rounds",
                "1",
                "--jobs",
                jobs,
                "--out",
                out.toString(),
                "--",
                "--jvm-flags",
                "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"); // half the time of short jobs
    System.out.println(result.output());
    return result.says("The page: " + out.resolve("comparison.html"));
  }

  private static JsonNode json(Path out) throws IOException {
    return new JsonMapper().readTree(out.resolve("comparison.json").toFile());
  }

  /** What the one comparison makes of each job. */
  private static Map<String, String> outcomes(JsonNode json) {
    assertEquals(1, json.required("comparisons").size(), json::toPrettyString);
    JsonNode comparison = json.required("comparisons").required(0);
    assertEquals(
        MANAGERS,
        List.of(comparison.required("reference").asText(), comparison.required("other").asText()));
    Map<String, String> outcomes = new TreeMap<>();
    comparison
        .required("jobs")
        .forEach(
            job -> outcomes.put(job.required("job").asText(), job.required("outcome").asText()));
    return outcomes;
  }

  /** Each job as each manager ran it, {@code manager job}. */
  private static Map<String, JsonNode> runs(JsonNode json) {
    Map<String, JsonNode> runs = new TreeMap<>();
    for (JsonNode application : json.required("run").required("applications")) {
      String label = application.required("label").asText();
      application
          .required("jobs")
          .forEach(job -> runs.put(label + " " + job.required("job").asText(), job));
    }
    return runs;
  }

  private static String page(Path out) throws IOException {
    try (Browser browser = Browser.start(folder.resolve("browser"))) {
      browser.open(out.resolve("comparison.html").toUri());
      assertEquals(List.of(), browser.errors());
      return browser.text();
    }
  }

  @Test
  @Order(1)
  void shouldFindBothJobsEqualUnderBothManagers() throws Exception {
    Path out = folder.resolve("equal");

    compare(QUERY + "," + SORT, out).exits(0);

    JsonNode json = json(out);
    assertTrue(json.required("complete").asBoolean(), json::toPrettyString);
    assertEquals(0, json.required("failed").asInt(), json::toPrettyString);
    assertEquals(Map.of(QUERY, "EQUAL", SORT, "EQUAL"), outcomes(json));
    Map<String, JsonNode> runs = runs(json);
    assertEquals(4, runs.size(), runs::toString);
    for (String job : List.of(QUERY, SORT)) {
      List<Integer> rows = new ArrayList<>();
      for (String manager : MANAGERS) {
        JsonNode run = runs.get(manager + " " + job);
        assertTrue(run.required("error").isNull(), run::toPrettyString);
        assertTrue(run.required("difference").isNull(), run::toPrettyString);
        assertTrue(run.at("/shuffle/remote").asLong() > 0, run::toPrettyString);
        rows.add(run.required("rows").asInt());
      }
      assertTrue(rows.getFirst() > 0 && rows.getFirst().equals(rows.getLast()), job + " " + rows);
      JsonNode ours = runs.get("verbatim " + job);
      assertEquals(
          ours.at("/shuffle/remote").asLong(),
          ours.at("/transfer/rdma").asLong() + ours.at("/transfer/tcp").asLong(),
          ours::toPrettyString);
      assertTrue(runs.get("sort " + job).required("transfer").isNull());
    }
    String page = page(out);
    for (String text :
        List.of("complete, 4 of 4 runs of jobs", "Results: 2 OK", QUERY, SORT, "sort by TCP")) {
      assertTrue(page.contains(text), () -> text + " is not in " + page);
    }
  }

  /** Sums of a class of items are 0 in so few rows, and Spark refuses to divide by them. */
  @Test
  @Order(2)
  void shouldEndWith3WhenAQueryFailsUnderBothManagers() throws Exception {
    Path out = folder.resolve("failed");

    compare("q12", out).exits(3);

    JsonNode json = json(out);
    assertTrue(json.required("complete").asBoolean(), json::toPrettyString);
    assertEquals(Map.of("q12", "FAILED"), outcomes(json));
    Map<String, JsonNode> runs = runs(json);
    for (String manager : MANAGERS) {
      JsonNode run = runs.get(manager + " q12");
      assertTrue(run.required("error").asText().contains("[DIVIDE_BY_ZERO]"), run::toPrettyString);
    }
    String page = page(out);
    for (String text :
        List.of("2 of 2 runs of jobs, 2 FAILED", "What failed or differed", "Results: 1 FAILED")) {
      assertTrue(page.contains(text), () -> text + " is not in " + page);
    }
  }

  @Test
  @Order(3)
  void shouldEndAllThatItHasStartedWhenItIsEnded() throws Exception {
    Path log = folder.resolve("ended.log");
    Process script =
        new Script(checkout.resolve("scripts/compare"), folder)
            .start(
                log, "--jobs", SORT, "--rounds", "99", "--out", folder.resolve("ended").toString());
    try {
      Deadline.await(
          "the start of Spark",
          Duration.ofMinutes(5),
          () -> !script.isAlive() || read(log).contains("executors are up"),
          () -> read(log));
      List<ProcessHandle> started = script.descendants().toList();
      assertTrue(started.size() >= 3, () -> "a driver and two executors: " + read(log));

      script.destroy();

      Deadline.await(
          "the end of the driver and its executors",
          Duration.ofMinutes(1),
          () -> !script.isAlive() && started.stream().noneMatch(ProcessHandle::isAlive),
          () -> started.stream().filter(ProcessHandle::isAlive).map(ProcessHandle::info).toList());
      assertTrue(script.exitValue() > 3, () -> script.exitValue() + " is no outcome: " + read(log));
    } finally {
      script.descendants().forEach(ProcessHandle::destroyForcibly);
      script.destroyForcibly();
    }
  }

  private static String read(Path log) {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
