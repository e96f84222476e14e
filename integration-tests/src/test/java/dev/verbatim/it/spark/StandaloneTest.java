package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Feature;
import dev.verbatim.it.spark.fixture.Job;
import dev.verbatim.it.spark.fixture.Places;
import dev.verbatim.it.spark.fixture.PushedShuffle;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.ShuffleService;
import dev.verbatim.it.spark.fixture.SparkHome;
import dev.verbatim.it.spark.fixture.SparkSubmission;
import dev.verbatim.it.spark.fixture.SparkSubmission.Result;
import dev.verbatim.it.spark.fixture.SpeculativeShuffle;
import dev.verbatim.it.spark.fixture.Stages;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.StandaloneCluster;
import dev.verbatim.it.spark.fixture.StockSpark;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Spark's own cluster manager with workers on two hosts, as Spark sees it: how drivers are
 * deployed, and those features that one host does not show.
 */
@Tag("standin")
class StandaloneTest {
  private static StandaloneCluster hosts;

  private final StandIn standIn = new StandIn();

  @BeforeAll
  static void start() {
    StockSpark.compute(List.of(Scenario.REPARTITION, Feature.SPECULATION, Feature.PUSHED_SHUFFLE));
    hosts = new StandaloneCluster();
  }

  @AfterAll
  static void stop() {
    if (hosts != null) {
      hosts.close();
    }
  }

  /** One has its driver here and its own classes first; the other has its driver on a worker. */
  @Test
  void shouldUseRdmaInBothDeployModesWhenTwoApplicationsRunOnTheSameMachines() {
    SparkSubmission client =
        submission()
            .set("spark.driver.userClassPathFirst", "true")
            .set("spark.executor.userClassPathFirst", "true");
    SparkSubmission onWorker =
        submission()
            .option("--deploy-mode", "cluster")
            .set("spark.standalone.submit.waitAppCompletion", "true");
    CompletableFuture<Result> first = CompletableFuture.supplyAsync(client::run);
    Result second = onWorker.run();

    new Result(second.exitCode(), hosts.driverOutput(), second.sinceStop()).assertByRdma();
    first.join().assertByRdma();
    standIn.assertNothingLeft();
  }

  private SparkSubmission submission() {
    return new SparkSubmission(SparkHome.create(List.of()), standIn.environment())
        .master(hosts.url())
        .option("--jars", Places.pluginJar().toString())
        .set("spark.cores.max", "2")
        .set("spark.executor.cores", "1")
        .set("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .set("spark.shuffle.readHostLocalDisk", "false");
  }

  /** Spark starts the second copy of a task on another host only. */
  @Test
  void shouldReadTheCopyThatSucceededWhenATaskIsRunTwice() {
    TestCluster.Builder application =
        application("speculation")
            .set("spark.speculation", true)
            .set("spark.speculation.interval", "100ms")
            .set("spark.speculation.quantile", 0.5)
            .set("spark.speculation.minTaskRuntime", "1s");
    try (TestCluster cluster = application.start();
        Stages stages = new Stages(cluster)) {
      standIn.assertTravelled(run(cluster, SpeculativeShuffle::run, Feature.SPECULATION));
      assertTrue(stages.speculated() > 0, "the second copy must have ended first");
    }
  }

  /** On its own host Spark would read merged blocks from the disk. */
  @Test
  void shouldLeaveMergedBlocksToTheServiceThatHasMergedThem() {
    try (ShuffleService service = new ShuffleService();
        TestCluster cluster = service.prepare(pushing("pushed")).start()) {
      Traffic traffic = run(cluster, new PushedShuffle(service), Feature.PUSHED_SHUFFLE);

      assertLeftTo("EXTERNAL_SHUFFLE_SERVICE", traffic);
      assertTrue(cluster.mergedBlocks() > 0, "the service must have merged blocks");
    }
  }

  /** Nothing can be pushed then, but whether a shuffle is to be merged is known before. */
  @Test
  void shouldLeaveAShuffleToSparkWhenItIsToBeMergedByPush() {
    try (ShuffleService service = new ShuffleService();
        TestCluster cluster = pushing("pushed-in-vain").start()) {
      assertLeftTo(
          "PUSH_BASED_SHUFFLE", run(cluster, new PushedShuffle(service), Feature.PUSHED_SHUFFLE));
      standIn.assertTravelled(run(cluster, Scenario.REPARTITION, Scenario.REPARTITION));
    }
  }

  private TestCluster.Builder application(String name) {
    return standIn
        .prepare(TestCluster.builder(name))
        .master(hosts.url())
        .set("spark.driver.host", "127.0.0.1");
  }

  private TestCluster.Builder pushing(String name) {
    return application(name)
        // Only tests may push without YARN.
        .set("spark.testing", true)
        .set("spark.shuffle.push.enabled", true)
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.shuffle.push.minShuffleSizeToWait", "0")
        .set("spark.shuffle.push.finalize.timeout", "2s")
        .set("spark.shuffle.push.results.timeout", "2s");
  }

  /**
   * @param same what has the same result under stock Spark
   */
  private static Traffic run(TestCluster cluster, Job job, Job same) {
    Outcome outcome = cluster.run(job);
    assertEquals(StockSpark.result(same), StockSpark.sorted(outcome.lines()));
    assertTrue(outcome.traffic().remoteBytes() > 0, "some blocks must come from another executor");
    return outcome.traffic();
  }

  private static void assertLeftTo(String reason, Traffic traffic) {
    assertEquals(0, traffic.bytesByRdma(), traffic::toString);
    assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
    assertEquals(Set.of(reason), traffic.fallbacks().keySet());
  }
}
