package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.FaultyRegistry;
import dev.verbatim.it.spark.fixture.FaultyRegistry.Fault;
import dev.verbatim.it.spark.fixture.FaultyRegistry.Question;
import dev.verbatim.it.spark.fixture.GatedShuffle;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Jobs of one application while the driver's registry is slow, deaf or forgets. */
@Tag("standin")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StandInRegistryTest extends ApplicationTests {
  private static final Scenario SCENARIO = Scenario.REPARTITION;
  private static final Duration HOLD = Duration.ofSeconds(2);
  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  /** What a question costs at most that is never answered. */
  private static final Duration PATIENCE = HOLD.plus(TIMEOUT);

  /** Many times what the job takes on a usual machine. */
  private static final Duration USUAL = Duration.ofSeconds(15);

  private final StandIn standIn;
  private final Set<Long> killed = new TreeSet<>();
  private FaultyRegistry registry;

  StandInRegistryTest() {
    StandIn device = new StandIn();
    super(device);
    standIn = device;
  }

  @Override
  Collection<Scenario> scenarios() {
    return List.of(SCENARIO, Scenario.GATED_SHUFFLE, Scenario.GROUP_BY_KEY);
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return GatedShuffle.settings(application)
        .set("spark.shuffle.rdma.registry.hold", HOLD.toMillis() + "ms")
        .set("spark.shuffle.rdma.registry.timeout", TIMEOUT.toMillis() + "ms");
  }

  private FaultyRegistry registry() {
    if (registry == null) {
      registry = FaultyRegistry.inFrontOfTheRunningOne();
    }
    return registry;
  }

  @AfterEach
  void returnToRdmaAtOnce() {
    registry().faults((question, nth) -> Fault.NONE);
    runUndisturbed(SCENARIO);
  }

  /** Runs the scenario, which may take so much longer than without trouble. */
  private Traffic run(Duration extra) {
    long start = System.nanoTime();
    Outcome outcome = cluster().run(SCENARIO);
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    assertResult(SCENARIO, outcome.lines());
    assertEquals(0, outcome.traffic().fetchFailures(), outcome.traffic()::toString);
    Duration limit = Deadline.of(USUAL).plus(extra);
    assertTrue(took.compareTo(limit) < 0, () -> took + " is more than " + limit);
    return outcome.traffic();
  }

  @Test
  @Order(1)
  void shouldGoByRdmaWhenTheRegistryIsSlow() {
    registry().faults((question, nth) -> Fault.LATE);

    Traffic traffic = run(FaultyRegistry.DELAY.multipliedBy(3));

    device().assertTravelled(traffic);
    assertTrue(registry().count(Question.SYNC) > 0, "it was asked");
  }

  /** Each executor is told by its first question; it does not ask about each block. */
  @Test
  @Order(2)
  void shouldUseTcpWithinABoundedTimeWhenTheRegistryDoesNotAnswer() {
    registry().faults((question, nth) -> Fault.LOST);

    Traffic traffic = run(PATIENCE.multipliedBy(2));

    assertEquals(0, traffic.bytesByRdma(), traffic::toString);
    assertEquals(Set.of("REGISTRY_FAILED"), traffic.fallbacks().keySet());
    assertEquals(2, registry().count(Question.SYNC), "once by each executor");
  }

  @Test
  @Order(3)
  void shouldGoByRdmaWhenFirstSendingsOfRecordsAreLost() {
    registry()
        .faults(
            (question, nth) ->
                question == Question.PUBLISH && nth < 4 ? Fault.REFUSED : Fault.NONE);

    Traffic traffic = run(HOLD);

    device().assertTravelled(traffic);
    assertTrue(registry().count(Question.PUBLISH) > 4, "records were sent again");
  }

  @Test
  @Order(4)
  void shouldUseTcpWithinABoundedTimeWhenRecordsAreLost() {
    registry().faults((question, nth) -> question == Question.PUBLISH ? Fault.REFUSED : Fault.NONE);

    Traffic traffic = run(HOLD.multipliedBy(2));

    assertEquals(0, traffic.bytesByRdma(), traffic::toString);
    assertEquals(Set.of("RECORD_MISSING"), traffic.fallbacks().keySet());
  }

  @Test
  @Order(5)
  void shouldReadOnByRdmaWhenTheRegistryFallsSilentInMidRead() {
    registry().faults((question, nth) -> Fault.NONE);
    Traffic before = cluster().traffic();
    GatedShuffle shuffle = new GatedShuffle();
    shuffle.start(cluster());
    registry().faults((question, nth) -> Fault.LOST);

    assertResult(Scenario.GATED_SHUFFLE, shuffle.finish());

    device().assertTravelled(cluster().traffic().since(before));
  }

  private void replaceAnExecutor() {
    String victim = Executors.running().keySet().iterator().next();
    killed.add(Executors.running().get(victim).pid());
    Executors.kill(victim);
    cluster().awaitExecutors(2);
  }

  /** Peers do not know it and go over TCP; when it has come through, they find it. */
  @Test
  @Order(6)
  void shouldFindAnExecutorWhoseAnnouncementComesLate() {
    registry()
        .faults((question, nth) -> question == Question.ANNOUNCE ? Fault.REFUSED : Fault.NONE);
    replaceAnExecutor();

    assertResult(SCENARIO, SCENARIO.run(cluster().session().newSession()));
    assertTrue(
        cluster().executorLogs().contains("it is not known to the driver's registry"),
        "the reason is named");
    assertTrue(registry().count(Question.ANNOUNCE) > 1, "it was announced again");
    registry().faults((question, nth) -> Fault.NONE);

    // The driver takes its counters now.
    Deadline.await(
        "accounting for all remote bytes",
        Duration.ofSeconds(60),
        () -> {
          Traffic all = cluster().traffic();
          return all.bytesByRdma() + all.bytesByTcp() == all.remoteBytes();
        },
        () -> cluster().traffic());
    awaitReturnToRdma();
  }

  @Test
  @Order(7)
  void shouldUseTcpWithAnExecutorThatStartsWhileTheRegistryIsDeafAndRdmaWhenItAnswers() {
    registry().faults((question, nth) -> question == Question.HELLO ? Fault.LOST : Fault.NONE);
    replaceAnExecutor();

    Traffic traffic = run(PATIENCE.multipliedBy(2));

    assertEquals(0, traffic.bytesByRdma(), traffic::toString);
    assertEquals(Set.of("REGISTRY_UNREACHABLE", "PEER_WITHOUT_RDMA"), traffic.fallbacks().keySet());
    assertTrue(
        cluster().executorLogs().contains("RDMA off: REGISTRY_UNREACHABLE"), "the reason is named");

    registry().faults((question, nth) -> Fault.NONE);
    awaitReturnToRdma();
  }

  @Override
  void checkAfterStop() {
    standIn.assertNothingLeft(killed);
  }
}
