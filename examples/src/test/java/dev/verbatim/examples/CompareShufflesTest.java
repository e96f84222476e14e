package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.examples.report.Machine;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class CompareShufflesTest {
  private static final String JAR = "target/tpcds/spark-sql-tests.jar";

  @TempDir private Path folder;

  /** What it says, after it has ended as failed and before it has run anything. */
  private String failure(String... more) {
    CommandLine line = CompareShuffles.commandLine();
    StringWriter errors = new StringWriter();
    line.setErr(new PrintWriter(errors, true));
    Path logs = folder.resolve("logs");
    List<String> arguments = new ArrayList<>(List.of("--logs", logs.toString()));
    arguments.addAll(List.of(more));
    assertEquals(2, line.execute(arguments.toArray(String[]::new)));
    assertTrue(Files.notExists(logs));
    return errors.toString();
  }

  @Test
  void shouldNameTheQueriesWhenOneDoesNotExist() {
    String error = failure("--tpcds-jar", JAR, "--data", folder.toString(), "--queries", "q100,q1");
    assertTrue(error.startsWith("CompareShuffles: No TPC-DS query q100; there are q1, "), error);
  }

  @Test
  void shouldSayHowJobsAreNamedWhenOneIsNone() {
    for (String name : List.of("terasort", "blocks:0x3", "terasort:5", "Q1", "blocks:2x3x4")) {
      String error = failure("--jobs", name);
      assertTrue(error.contains("No job '" + name + "': a job is a query such as q72,"), error);
    }
    assertTrue(failure("--jobs", "q1").contains("Query q1 needs --tpcds-jar and --data"));
  }

  @Test
  void shouldNameTheFileWhenItDoesNotExist() {
    assertTrue(failure("--tpcds-jar", "no.jar", "--data", "x").contains("No file no.jar"));
    assertTrue(failure("--tpcds-jar", JAR, "--data", "x").contains("No folder x"));
  }

  @Test
  void shouldSayWhichTableIsMissingBeforeSparkStarts() {
    String error = failure("--tpcds-jar", JAR, "--data", folder.toString(), "--queries", "all");
    assertTrue(error.contains("Query q1 needs " + folder.resolve("customer")), error);
  }

  @Test
  void shouldRefuseWhenAJobIsNamedTwice() {
    String error = failure("--jobs", "blocks:2x2,terasort:1x1,blocks:2x2");
    assertTrue(error.contains("Job blocks:2x2 is named twice"), error);
  }

  @Test
  void shouldRefuseToGoOnWhenThereIsNothingOrSomethingElseToGoOnWith() throws IOException {
    String none = failure("--jobs", "blocks:2x2", "--resume");
    assertTrue(none.contains("--resume needs --json"), none);

    Path file = folder.resolve("run.json");
    Files.writeString(file, "{}");
    String other = failure("--jobs", "blocks:2x2", "--resume", "--json", file.toString());
    assertTrue(other.contains(file + " was not left by a comparison"), other);

    for (String foreign :
        List.of(
            "", "{\"run\": {\"settings\": {\"jobs\": [", "{\"run\": {}}", "{\"run\": 7}", "[1]")) {
      Files.writeString(file, foreign);
      String error = failure("--jobs", "blocks:2x2", "--resume", "--json", file.toString());
      assertTrue(error.contains(file + " was not left by a comparison"), error);
      assertTrue(error.lines().count() == 1, error);
    }

    RunReport begun = Reports.run(2, List.of("blocks:2x2"));
    new RunFiles(file, null).write(begun);
    String settings = failure("--jobs", "blocks:2x3", "--resume", "--json", file.toString());
    assertTrue(
        settings.contains("begun with other jobs: [blocks:2x2], not [blocks:2x3]"), settings);
  }

  /** Or else its next result would be the one that all are compared with. */
  @Test
  void shouldRefuseToGoOnWhenTheFirstResultsAreGone() throws IOException {
    Path file = folder.resolve("run.json");
    String[] options = {"--jobs", "blocks:2x2", "--json", file.toString(), "--conf", "a.token=x"};
    CompareShuffles begun = new CompareShuffles();
    new CommandLine(begun).parseArgs(options);
    RunReport run =
        new RunReport(begun.settings(), Machine.here(), "2026-11-30T01:00:00Z", List.of());
    JobReport job = Reports.job("blocks:2x2", 1, null);
    new RunFiles(file, null)
        .write(run.with(new ApplicationReport("sort", 1, Reports.SPARK, List.of(job))));

    List<String> resumed = new ArrayList<>(List.of(options));
    resumed.add("--resume");
    String error = failure(resumed.toArray(String[]::new));
    assertTrue(error.contains("needs the first result of blocks:2x2"), error);
  }

  @Test
  void shouldRefuseWhenThereIsNothingToCompare() {
    for (String managers : List.of("sort", "sort,sort", "one.Shuffle,sort,other.Shuffle")) {
      String error = failure("--jobs", "blocks:2x2", "--managers", managers);
      assertTrue(error.contains("--managers needs two"), error);
    }
  }

  @Test
  void shouldRefuseWhatIsNoGoalBeforeSparkStarts() {
    String error = failure("--jobs", "blocks:2x2", "--figure-goal", "1.00 or so");
    assertTrue(error.contains("not '1.00 or so'"), error);
  }
}
