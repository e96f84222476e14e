package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.ExecutorHoldings;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.RandomFaults;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.Traffic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Many jobs in one application while devices, connections and executors fail by chance. {@code
 * -Dverbatim.it.soak.jobs=240} is the long form, {@code -Dverbatim.it.soak.seed=N} repeats a run.
 */
@Tag("standin")
class StandInSoakTest extends ApplicationTests {
  private static final int JOBS = Integer.getInteger("verbatim.it.soak.jobs", 24);
  private static final long SEED = Long.getLong("verbatim.it.soak.seed", System.nanoTime());
  private static final long START = System.nanoTime();
  private static final int JOBS_PER_KILL = 30;
  private static final int EXECUTORS = 3;
  private static final List<Scenario> WARM_UP =
      List.of(Scenario.REPARTITION, Scenario.LARGE_PARTITION, Scenario.SQL_AGGREGATION);

  private final StandIn standIn;
  private final Random random = new Random(SEED);
  private final RandomFaults faults = new RandomFaults(random);

  /** What each executor held when it had worked without trouble, by its process id. */
  private final Map<Long, Map<String, Long>> first = new HashMap<>();

  private final Map<String, Integer> jobs = new TreeMap<>();
  private final Set<Long> killed = new HashSet<>();

  StandInSoakTest() {
    StandIn device = new StandIn();
    super(device);
    standIn = device;
  }

  @Override
  Collection<Scenario> scenarios() {
    return EnumSet.complementOf(EnumSet.of(Scenario.GATED_SHUFFLE));
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return application
        .executors(EXECUTORS)
        // Some outputs are copied, some are mapped.
        .set("spark.shuffle.rdma.copyThreshold", "32k")
        // One slab, so that it can be said how many bytes the pool holds.
        .set("spark.shuffle.rdma.poolBytes", "16m")
        .set("spark.shuffle.rdma.slabBytes", "16m")
        .set("spark.shuffle.rdma.retryBackoff", "100ms")
        .set("spark.shuffle.rdma.connectTimeout", "500ms")
        .set("spark.shuffle.rdma.readTimeout", "500ms")
        .set("spark.shuffle.rdma.idleTimeout", "1s")
        .set("spark.stage.maxConsecutiveAttempts", 20)
        .set("spark.task.maxFailures", 20);
  }

  @Test
  void shouldReturnRightResultsAndKeepNothingWhateverFails() {
    System.out.println("soak: " + JOBS + " jobs, seed " + SEED);
    List<Scenario> choice = List.copyOf(scenarios());
    Traffic before = cluster().traffic();
    meetExecutors();
    for (int job = 1; job <= JOBS; job++) {
      Scenario scenario = choice.get(random.nextInt(choice.size()));
      if (job % JOBS_PER_KILL == JOBS_PER_KILL / 2) {
        loseAnExecutor(scenario, job);
      } else {
        run(scenario, faults.next(), job);
      }
    }
    loseTheDevice();
    assertNothingKept();

    System.out.println("soak: ended" + seconds());
    Traffic all = cluster().traffic().since(before);
    System.out.println("soak: jobs " + jobs + ", " + all);
    assertTrue(jobs.getOrDefault("by both ways", 0) > 0, jobs::toString);
    assertTrue(jobs.getOrDefault("by RDMA", 0) > 0, jobs::toString);
    assertTrue(all.fallbacks().containsKey("READ_FAILED"), all::toString);
  }

  private void run(Scenario scenario, List<String> lines, int job) {
    standIn.faults(lines.toArray(String[]::new));
    TestCluster.Outcome outcome = told(scenario, lines, job, () -> cluster().run(scenario));
    assertRight(scenario, outcome.lines(), lines, job);
    assertEquals(0, outcome.traffic().fetchFailures(), () -> label(scenario, lines, job));
    long rdma = outcome.traffic().bytesByRdma();
    long tcp = outcome.traffic().bytesByTcp();
    jobs.merge(rdma == 0 ? "by TCP" : tcp == 0 ? "by RDMA" : "by both ways", 1, Integer::sum);
  }

  private static String seconds() {
    return " after " + (System.nanoTime() - START) / 1_000_000_000 + " s";
  }

  private interface Run<T> {
    T now();
  }

  private static <T> T told(Scenario scenario, List<String> lines, int job, Run<T> run) {
    try {
      return run.now();
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(label(scenario, lines, job), e);
    }
  }

  private static void assertRight(
      Scenario scenario, List<String> result, List<String> lines, int job) {
    told(
        scenario,
        lines,
        job,
        () -> {
          assertResult(scenario, result);
          return null;
        });
  }

  private static String label(Scenario scenario, List<String> lines, int job) {
    return "seed " + SEED + ", job " + job + ", " + scenario + ", faults " + lines;
  }

  /** Kills an executor in the middle of a job that has its own faults. */
  private void loseAnExecutor(Scenario scenario, int job) {
    List<String> lines = faults.next();
    standIn.faults(lines.toArray(String[]::new));
    List<String> running = new ArrayList<>(Executors.running().keySet());
    String victim = running.get(random.nextInt(running.size()));
    int after = random.nextInt(600);
    killed.add(Executors.running().get(victim).pid());
    CompletableFuture<Void> kill =
        CompletableFuture.runAsync(
            () -> Executors.kill(victim),
            CompletableFuture.delayedExecutor(after, TimeUnit.MILLISECONDS));
    List<String> result =
        told(scenario, lines, job, () -> scenario.run(cluster().session().newSession()));
    assertRight(scenario, result, lines, job);
    kill.join();
    jobs.merge("an executor killed", 1, Integer::sum);
    standIn.faults();
    cluster().awaitExecutors(EXECUTORS);
    meetExecutors();
  }

  /** A status that costs an executor its device: the job goes on, and so do those after it. */
  private void loseTheDevice() {
    standIn.faults("read status=19 nth=1");
    assertResult(Scenario.REPARTITION, cluster().run(Scenario.REPARTITION).lines());
    standIn.faults();
    TestCluster.Outcome after = cluster().run(Scenario.REPARTITION);
    assertResult(Scenario.REPARTITION, after.lines());
    assertEquals(0, after.traffic().bytesByRdma(), () -> after.traffic().toString());
    assertTrue(
        after.traffic().fallbacks().containsKey("DEVICE_ERROR"), () -> after.traffic().toString());
    jobs.merge("device lost", 1, Integer::sum);
  }

  /** Has all executors work without trouble, by both ways, and notes what the new ones hold. */
  private void meetExecutors() {
    standIn.faults("reg_mr access=4 errno=EIO");
    for (Scenario scenario : WARM_UP) {
      assertResult(scenario, cluster().run(scenario).lines());
    }
    standIn.faults();
    for (Scenario scenario : WARM_UP) {
      assertResult(scenario, cluster().run(scenario).lines());
    }
    settle();
    holdings().forEach(first::putIfAbsent);
    System.out.println("soak: executors hold " + first + seconds());
  }

  /** Waits until all shuffles are removed, all idle connections closed. */
  private void settle() {
    Deadline.await(
        "removal of all shuffles",
        Duration.ofSeconds(60),
        () -> {
          System.gc(); // Spark removes the shuffles that nothing refers to any more
          return holdings().values().stream()
              .allMatch(
                  held -> held.get("device remote_bytes") == 0 && held.get("device qps") == 0);
        },
        this::holdings);
  }

  private void assertNothingKept() {
    settle();
    Map<Long, Map<String, Long>> kept = new TreeMap<>();
    Deadline.await(
        "return of all that was taken",
        Duration.ofSeconds(90),
        () -> {
          kept.clear();
          holdings()
              .forEach((pid, now) -> kept.put(pid, ExecutorHoldings.more(first.get(pid), now)));
          kept.values().removeIf(Map::isEmpty);
          return kept.isEmpty();
        },
        () -> kept + " more than at first, seed " + SEED + ": " + first);
    assertFalse(first.isEmpty());
    System.out.println("soak: executors hold in the end " + holdings());
  }

  private Map<Long, Map<String, Long>> holdings() {
    Map<String, Map<String, Long>> device = standIn.counters();
    Map<Long, Map<String, Long>> holdings = new TreeMap<>();
    for (ProcessHandle executor : Executors.running().values()) {
      Map<String, Long> counters = device.get(Long.toString(executor.pid()));
      holdings.put(executor.pid(), ExecutorHoldings.of(executor, counters));
    }
    return holdings;
  }

  @Override
  void checkAfterStop() {
    standIn.assertNothingLeft(killed);
  }
}
