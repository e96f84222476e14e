package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.FileRepository;
import dev.verbatim.it.spark.fixture.Places;
import dev.verbatim.it.spark.fixture.Scrape;
import dev.verbatim.it.spark.fixture.SparkHome;
import dev.verbatim.it.spark.fixture.SparkSubmission;
import dev.verbatim.it.spark.fixture.SparkSubmission.Result;
import dev.verbatim.it.spark.fixture.StandIn;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.spark.SparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every way to bring the plugin jar to Spark, each with one small job by spark-submit. */
@Tag("standin")
class InstallTest {
  private static final Duration LONGEST_END = Duration.ofSeconds(10);

  /** Of a line of Spark's log, up to the level. */
  private static final String START = "[0-9/]{8} [0-9:]{8} ";

  private final StandIn standIn = new StandIn();
  private final String plugin = Places.pluginJar().toString();

  @Test
  void shouldWorkWhenTheJarIsSentWithTheJob() {
    SparkSubmission submission = submission(SparkHome.create(List.of()));

    assertRuns(submission.option("--jars", plugin));
  }

  /** With {@code conf/spark-defaults.conf}, which has that class path, and our log4j2 lines. */
  @Test
  void shouldWorkAndTellItsStartWhenTheTemplatesAreUsed() throws IOException {
    SparkHome home = SparkHome.create(List.of()).with("log4j2.properties", quietButForOurs());

    Result result = assertRuns(submission(home).properties(settingsOfTheTemplate()));

    List<String> executors = home.executorLogs();
    assertEquals(
        2,
        count(executors, START + "INFO ExecutorSession: RDMA on: device standin0 port 1 .*"),
        () -> String.join("\n", executors));
    assertTrue(
        count(executors, START + "DEBUG Connector: Connected to .*") > 0,
        () -> String.join("\n", executors));
    List<String> driver = result.output();
    assertEquals(
        1,
        count(driver, START + "INFO RdmaShuffleManager: RDMA is allowed: .*"),
        () -> String.join("\n", driver));
    assertEquals(
        1,
        count(driver, START + "INFO DriverSession: Shuffle of this application: .*"),
        () -> String.join("\n", driver));
    assertEquals(0, count(driver, START + "INFO (SparkContext|DAGScheduler): .*"));
    assertEquals(0, count(executors, START + "INFO (Executor|BlockManager): .*"));
  }

  /** Taken in whole, but for what is of another machine. */
  private Path settingsOfTheTemplate() throws IOException {
    String template = Files.readString(Scrape.CONF.resolve("spark-defaults.conf"));
    String settings =
        template
            .replaceAll("(?m)^# (?=spark\\.)", "") // those that are commented out, too
            .replace("/opt/verbatim/shuffle-manager.jar", plugin)
            .replace("mlx5_0", "standin0");
    assertTrue(settings.contains("\nspark.executor.extraClassPath "), settings);
    assertTrue(settings.contains(plugin) && settings.contains("standin0"), settings);
    return Files.writeString(Places.temporary("conf").resolve("spark-defaults.conf"), settings);
  }

  /** Spark's own file, as a site may have it, with the lines of the template. */
  private static String quietButForOurs() throws IOException {
    try (InputStream in = SparkContext.class.getResourceAsStream("log4j2-defaults.properties")) {
      String own = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(own.contains("rootLogger.level = info"), own);
      return own.replace("rootLogger.level = info", "rootLogger.level = warn")
          + Files.readString(Scrape.CONF.resolve("log4j2.properties"))
              .replaceAll("(?m)^# (?=logger\\.)", ""); // for a closer look
    }
  }

  private static long count(List<String> lines, String pattern) {
    return lines.stream().filter(line -> line.matches(pattern)).count();
  }

  @Test
  void shouldWorkWhenTheJarIsAmongSparksOwn() {
    SparkHome home = SparkHome.create(List.of(Places.pluginJar()));

    assertRuns(submission(home));
  }

  @Test
  void shouldWorkWhenTheJarComesFromARepository() {
    SparkSubmission submission = submission(SparkHome.create(List.of()));
    FileRepository repository = new FileRepository();

    assertRuns(
        submission
            .option("--packages", repository.coordinates())
            .option("--repositories", repository.url()));
  }

  private SparkSubmission submission(SparkHome home) {
    return new SparkSubmission(home, standIn.environment());
  }

  private Result assertRuns(SparkSubmission submission) {
    Result result = submission.run();

    result.assertByRdma();
    assertEquals("1 and [1]", result.line("SOURCES"), "registrations of metrics");
    assertTrue(
        result.sinceStop().compareTo(LONGEST_END) < 0,
        () -> "the driver ended only " + result.sinceStop() + " after SparkContext.stop()");
    standIn.assertNothingLeft();
    return result;
  }
}
