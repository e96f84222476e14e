package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Feature;
import dev.verbatim.it.spark.fixture.LimitedJvm;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.SlowConsumer;
import dev.verbatim.it.spark.fixture.Stages;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.StockSpark;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import dev.verbatim.shuffle.RdmaShuffleManager;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.util.Utils$;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Applications that are short of something: locked memory, budget, buffers, disk, time. */
@Tag("standin")
class StandInLimitsTest {
  private static final String PREFIX = "spark.shuffle.rdma.";
  private static final long POOL = 16 << 20;

  private final StandIn standIn = new StandIn();

  @BeforeAll
  static void compute() {
    StockSpark.compute(
        List.of(
            Scenario.REPARTITION,
            Scenario.LARGE_PARTITION,
            Scenario.REDUCE_BY_KEY,
            Feature.FEW_MAPS));
  }

  @AfterEach
  void lookForLeaks() {
    standIn.assertNothingLeft();
  }

  private TestCluster.Builder application(String name) {
    return standIn.prepare(TestCluster.builder(name));
  }

  private static Traffic run(TestCluster cluster, Scenario scenario) {
    Outcome outcome = cluster.run(scenario);
    ApplicationTests.assertResult(scenario, outcome.lines());
    assertEquals(0, outcome.traffic().fetchFailures());
    return outcome.traffic();
  }

  @Test
  void shouldUseTcpAndTellTheLimitWhenHardlyAnyMemoryMayBeLocked() {
    Assumptions.assumeTrue(LimitedJvm.isPossible(), "needs prlimit, setpriv and root");
    try (TestCluster cluster =
        application("memlock")
            .set("spark.executorEnv.VERBATIM_STANDIN_LIMITS", "memlock=1")
            .set("spark.executorEnv.JAVA_HOME", LimitedJvm.withMemlock(64 << 10))
            .start()) {
      Traffic traffic = run(cluster, Scenario.REPARTITION);

      assertEquals(0, traffic.bytesByRdma());
      assertTrue(traffic.fallbacks().containsKey("MEMLOCK"), traffic::toString);
      String logs = cluster.executorLogs();
      assertTrue(logs.contains("RLIMIT_MEMLOCK of this process"), "whose limit it is");
      assertTrue(logs.contains("is 65536 bytes"), "how large it is");
    }
  }

  @Test
  void shouldRegisterWhatTheBudgetAllowsAndLeaveTheRestToTcp() {
    long budget = 1 << 20;
    try (TestCluster cluster =
        application("small-budget").set(PREFIX + "maxRegisteredBytes", budget).start()) {
      Traffic traffic = run(cluster, Scenario.LARGE_PARTITION);

      assertTrue(traffic.fallbacks().containsKey("BUDGET_REACHED"), traffic::toString);
      assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
      assertTrue(RdmaShuffleManager.report().total().registeredBytes() <= 2 * budget);
      standIn
          .counters()
          .values()
          .forEach(device -> assertTrue(device.get("remote_bytes") <= budget, device::toString));
      assertTrue(run(cluster, Scenario.REPARTITION).bytesByRdma() > 0, "small ones fit");
    }
  }

  /** Each reducer wants some 24 MiB from the other executor, and asks for all of it at once. */
  @Test
  void shouldGoOnWithinItsBoundsWhenASlowConsumerHoldsAllBuffers() throws Exception {
    try (TestCluster cluster =
        application("slow-consumer")
            .set(PREFIX + "poolBytes", POOL)
            .set(PREFIX + "slabBytes", "1m")
            .set("spark.reducer.maxSizeInFlight", "200m")
            .set("spark.network.maxRemoteBlockSizeFetchToMem", "200m")
            .start()) {
      CompletableFuture<Outcome> running =
          CompletableFuture.supplyAsync(() -> cluster.run(new SlowConsumer()));
      long most = 0;
      while (!running.isDone()) {
        most = Math.max(most, largestPool());
        Thread.sleep(20);
      }
      Outcome outcome = running.get(1, TimeUnit.SECONDS);

      assertEquals(SlowConsumer.expected(), StockSpark.sorted(outcome.lines()));
      Traffic traffic = outcome.traffic();
      assertTrue(traffic.fallbacks().containsKey("POOL_EXHAUSTED"), traffic::toString);
      assertTrue(traffic.bytesByRdma() > 0, traffic::toString);
      assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
      assertTrue(most > POOL / 2 && most <= POOL, "most bytes in a pool: " + most);
      // All buffers have come back.
      assertEquals(0, run(cluster, Scenario.REPARTITION).bytesByTcp());
    }
  }

  private long largestPool() {
    return standIn.counters().values().stream()
        .mapToLong(device -> device.get("mr_bytes") - device.get("remote_bytes"))
        .max()
        .orElse(0);
  }

  @Test
  void shouldFailAsStockSparkDoesWhenTheDiskIsFullAndWorkAgainWhenThereIsRoom(
      @TempDir Path directory) throws Exception {
    Assumptions.assumeTrue(command("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", directory));
    Utils$.MODULE$.clearLocalRootDirs(); // Spark looks for them once per JVM
    try {
      try (TestCluster cluster =
          application("full-disk")
              .set("spark.local.dir", directory)
              .set("spark.task.maxFailures", 1)
              .set(PREFIX + "copyThreshold", 0)
              .start()) {
        Throwable error =
            assertThrows(Throwable.class, () -> cluster.run(Scenario.LARGE_PARTITION));
        assertTrue(error.toString().contains("No space left on device"), error::toString);
        Deadline.await(
            "room on the disk",
            Duration.ofSeconds(30),
            () -> {
              System.gc(); // Spark removes the shuffle that nothing refers to any more
              return directory.toFile().getUsableSpace() > 6 << 20;
            },
            () -> directory.toFile().getUsableSpace());
        Traffic traffic = run(cluster, Scenario.REDUCE_BY_KEY);
        assertEquals(0, traffic.bytesByTcp(), traffic::toString);
        assertTrue(traffic.bytesByRdma() > 0, traffic::toString);
      }
    } finally {
      Utils$.MODULE$.clearLocalRootDirs();
      command("umount", "-l", directory);
    }
  }

  private static boolean command(Object... words) throws IOException, InterruptedException {
    List<String> command = List.of(words).stream().map(Object::toString).toList();
    return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
  }

  /** What a task would wait for is far longer than the task; hardly any may wait in the queue. */
  @Test
  void shouldNotLetMapTasksWaitWhenRegistrationIsSlow() {
    Duration slow = Duration.ofSeconds(6);
    try (TestCluster cluster =
            application("slow-registration")
                .set(PREFIX + "copyThreshold", 0)
                .set(PREFIX + "registrationThreads", 1)
                .set(PREFIX + "registrationQueue", 1)
                .set(PREFIX + "registry.hold", "200ms")
                .start();
        Stages stages = new Stages(cluster)) {
      standIn.faults("reg_mr access=4 delay_us=" + slow.toMillis() * 1000);
      Outcome outcome = cluster.run(Feature.MAPS_1000);

      ApplicationTests.assertResult(Feature.FEW_MAPS, outcome.lines());
      Traffic traffic = outcome.traffic();
      // On a slow machine the job lasts so long that a few are registered.
      assertTrue(traffic.bytesByTcp() > 9 * traffic.bytesByRdma(), traffic::toString);
      assertTrue(traffic.fallbacks().containsKey("REGISTRATION_BACKLOG"), traffic::toString);
      assertTrue(
          stages.longestMap().compareTo(slow.dividedBy(2)) < 0, () -> "" + stages.longestMap());
      CounterSnapshot total = RdmaShuffleManager.report().total();
      assertTrue(total.handOverNanos() < slow.toNanos() / 2, total::toString);
      assertTrue(total.outputsDeclined() > 900, total::toString);
      standIn.faults();
      Deadline.await(
          "registration at its usual pace",
          Duration.ofSeconds(60),
          () -> run(cluster, Scenario.REPARTITION).bytesByRdma() > 0,
          cluster::traffic);
    }
  }

  /** The records of map outputs come long after their readers have asked for them. */
  @Test
  void shouldUseTcpWhenRecordsComeLate() {
    try (TestCluster cluster =
        application("late-records")
            .set(PREFIX + "registry.publishDelay", "10s")
            .set(PREFIX + "registry.hold", "0ms")
            .start()) {
      Traffic traffic = run(cluster, Scenario.REPARTITION);

      assertEquals(0, traffic.bytesByRdma(), traffic::toString);
      assertTrue(traffic.fallbacks().containsKey("RECORD_MISSING"), traffic::toString);
      assertFalse(traffic.bytesByTcp() == 0, traffic::toString);
    }
  }
}
