package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.Feature;
import dev.verbatim.it.spark.fixture.Job;
import dev.verbatim.it.spark.fixture.KeptShuffle;
import dev.verbatim.it.spark.fixture.Stages;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import dev.verbatim.shuffle.metrics.MetricsSource;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import scala.Option;

/** Dynamic allocation with shuffle tracking, and decommissioning with migration. */
@Tag("standin")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ExecutorsComeAndGoTest extends ApplicationTests {
  private static final int EXECUTORS = 3;
  private static final Duration IDLE = Duration.ofSeconds(3);

  private KeptShuffle kept = new KeptShuffle();

  ExecutorsComeAndGoTest() {
    super(new StandIn());
  }

  @Override
  Collection<? extends Job> scenarios() {
    return List.of(Feature.KEPT_SHUFFLE);
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return application
        .executors(EXECUTORS)
        .set("spark.dynamicAllocation.enabled", true)
        .set("spark.dynamicAllocation.shuffleTracking.enabled", true)
        .set("spark.dynamicAllocation.initialExecutors", EXECUTORS)
        .set("spark.dynamicAllocation.minExecutors", 1)
        .set("spark.dynamicAllocation.maxExecutors", EXECUTORS)
        .set("spark.dynamicAllocation.executorIdleTimeout", IDLE.toSeconds() + "s")
        .set("spark.dynamicAllocation.schedulerBacklogTimeout", "1s")
        .set("spark.decommission.enabled", true)
        .set("spark.storage.decommission.enabled", true)
        .set("spark.storage.decommission.shuffleBlocks.enabled", true)
        .set("spark.storage.decommission.replicationReattemptInterval", "1s");
  }

  @Test
  @Order(0)
  void shouldForgetExecutorsThatGoBeforeThereIsAnyShuffle() {
    Deadline.await(
        "end of idle executors",
        Duration.ofSeconds(60),
        () -> executorsWithRdma() == 1,
        this::executorsWithRdma);

    awaitAllExecutors();
  }

  /** As the driver's metrics tell it. */
  private long executorsWithRdma() {
    return (Long)
        SparkEnv.get()
            .metricsSystem()
            .getSourcesByName(MetricsSource.NAME)
            .head()
            .metricRegistry()
            .getGauges()
            .get(MetricsSource.WITH_RDMA)
            .getValue();
  }

  @Test
  @Order(1)
  void shouldKeepExecutorsWhoseMapOutputsAreNeededWhenTheyAreIdle() throws InterruptedException {
    assertByRdma(cluster().run(kept));
    Set<String> before = Executors.running().keySet();
    assertEquals(EXECUTORS, before.size());
    Thread.sleep(IDLE.multipliedBy(2).toMillis());

    assertEquals(before, Executors.running().keySet());
    assertByRdma(cluster().run(kept));
  }

  private void assertByRdma(Outcome outcome) {
    assertResult(Feature.KEPT_SHUFFLE, outcome.lines());
    assertTrue(outcome.traffic().remoteBytes() > 0);
    device().assertTravelled(outcome.traffic());
  }

  @Test
  @Order(2)
  void shouldReadABlockWhereItIsWhenItHasMovedFromADecommissionedExecutor() {
    String leaving = Executors.running().keySet().iterator().next();
    decommission(leaving);
    Deadline.await(
        "end of the decommissioned executor",
        Duration.ofSeconds(60),
        () -> !Executors.running().containsKey(leaving),
        () -> Executors.running().keySet());

    try (Stages stages = new Stages(cluster())) {
      Outcome outcome = cluster().run(kept);
      assertResult(Feature.KEPT_SHUFFLE, outcome.lines());
      assertEquals(List.of(), stages.retries(), "nothing may be computed again");
      Traffic traffic = outcome.traffic();
      assertEquals(0, traffic.fetchFailures(), traffic::toString);
      assertTrue(traffic.bytesByRdma() > 0, () -> "those that have not moved: " + traffic);
      assertTrue(traffic.bytesByTcp() > 0, () -> "those that have moved: " + traffic);
      assertTrue(
          Set.of("OUTPUT_MOVED", "RECORD_MISSING").containsAll(traffic.fallbacks().keySet()),
          traffic::toString);
    }
  }

  private void decommission(String executor) {
    ExecutorAllocationClient client =
        (ExecutorAllocationClient) cluster().session().sparkContext().schedulerBackend();
    ExecutorDecommissionInfo info = ExecutorDecommissionInfo.apply("a test", Option.empty());
    assertTrue(client.decommissionExecutor(executor, info, false, false));
  }

  @Test
  @Order(3)
  void shouldUseRdmaBetweenNewExecutorsWhenOthersHaveGone() {
    kept = null;
    Set<String> before = Executors.running().keySet();
    Deadline.await(
        "end of idle executors",
        Duration.ofSeconds(60),
        () -> {
          System.gc(); // Spark then removes the shuffles that nobody knows of
          return Executors.running().size() == 1;
        },
        () -> Executors.running().keySet());

    awaitAllExecutors();
    assertFalse(before.containsAll(Executors.running().keySet()));
    kept = new KeptShuffle();
    assertByRdma(cluster().run(kept));
  }

  /** Spark takes its request back when the backlog is gone before an executor has started. */
  private void awaitAllExecutors() {
    Deadline.await(
        "all executors",
        Duration.ofSeconds(120),
        () -> {
          makeBacklog();
          return Executors.running().size() == EXECUTORS;
        },
        () -> Executors.running().keySet());
    cluster().awaitExecutors(EXECUTORS);
  }

  /** Tasks that wait long enough for Spark to ask for executors. */
  private void makeBacklog() {
    List<Integer> tasks = Collections.nCopies(2 * EXECUTORS, 2_500);
    cluster().context().parallelize(tasks, tasks.size()).foreach(millis -> Thread.sleep(millis));
  }
}
