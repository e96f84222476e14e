package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.FileRepository;
import dev.verbatim.it.spark.fixture.Places;
import dev.verbatim.it.spark.fixture.SparkHome;
import dev.verbatim.it.spark.fixture.SparkSubmission;
import dev.verbatim.it.spark.fixture.SparkSubmission.Result;
import dev.verbatim.it.spark.fixture.StandIn;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every way to bring the plugin jar to Spark, each with one small job by spark-submit. */
@Tag("standin")
class InstallTest {
  private static final Duration LONGEST_END = Duration.ofSeconds(10);

  private final StandIn standIn = new StandIn();
  private final String plugin = Places.pluginJar().toString();

  @Test
  void shouldWorkWhenTheJarIsSentWithTheJob() {
    SparkSubmission submission = submission(SparkHome.create(List.of()));

    assertRuns(submission.option("--jars", plugin));
  }

  @Test
  void shouldWorkWhenTheJarIsOnTheExtraClassPath() {
    SparkSubmission submission = submission(SparkHome.create(List.of()));

    assertRuns(
        submission
            .set("spark.driver.extraClassPath", plugin)
            .set("spark.executor.extraClassPath", plugin));
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

  private void assertRuns(SparkSubmission submission) {
    Result result = submission.run();

    result.assertByRdma();
    assertEquals("1 and [1]", result.line("SOURCES"), "registrations of metrics");
    assertTrue(
        result.sinceStop().compareTo(LONGEST_END) < 0,
        () -> "the driver ended only " + result.sinceStop() + " after SparkContext.stop()");
    standIn.assertNothingLeft();
  }
}
