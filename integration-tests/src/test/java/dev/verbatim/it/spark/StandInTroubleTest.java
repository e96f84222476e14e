package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.GatedShuffle;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import dev.verbatim.shuffle.registry.RegistryEndpoint;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.util.RpcUtils;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One application in trouble: calls, the link and the registry fail in turn. */
@Tag("standin")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StandInTroubleTest extends ApplicationTests {
  private static final Scenario SCENARIO = Scenario.REPARTITION;
  private static final int MOST_CALLS = 60;

  private final StandIn standIn;
  private int lines;

  StandInTroubleTest() {
    StandIn device = new StandIn();
    super(device);
    standIn = device;
  }

  @Override
  Collection<Scenario> scenarios() {
    return List.of(SCENARIO);
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return GatedShuffle.settings(application)
        .set("spark.shuffle.rdma.copyThreshold", 0)
        .set("spark.shuffle.rdma.retryBackoff", "0ms")
        .set("spark.shuffle.rdma.connectTimeout", "1s")
        .set("spark.shuffle.rdma.readTimeout", "1s");
  }

  /** The call fails once in each executor: the first, the second, as far as a small job goes. */
  @ParameterizedTest
  @Order(1)
  @ValueSource(
      strings = {
        "reg_mr access=4",
        "create_qp",
        "resolve_addr",
        "resolve_route",
        "connect",
        "accept",
        "post_send"
      })
  void shouldReturnTheRightResultWhicheverCallFails(String call) {
    int nth = 0;
    long hits;
    do {
      nth++;
      long before = hits();
      // Without connections from before, all of these calls are made.
      standIn.faults(
          "disconnect id=" + ++lines, call + " errno=ENOMEM nth=" + nth + " id=" + lines);
      Traffic traffic = run();
      assertEquals(traffic.bytesByTcp() > 0, !traffic.fallbacks().isEmpty(), "reasons: " + traffic);
      hits = hits() - before;
    } while (hits > 0 && nth < MOST_CALLS);
    standIn.faults();
    assertTrue(nth > 1, "the call is made");
    assertTrue(nth < MOST_CALLS, "no end of calls");
    assertEquals(0, run().bytesByTcp(), "all is well again");
  }

  private long hits() {
    sleep(50); // the counters follow within 20 ms
    return standIn.counters().values().stream()
        .mapToLong(counters -> counters.get("fault_hits"))
        .sum();
  }

  @Test
  @Order(2)
  void shouldGoOnWhileTheLinkFlapsEverySecond() {
    Traffic before = cluster().traffic();
    AtomicInteger changes = new AtomicInteger();
    ScheduledExecutorService link =
        java.util.concurrent.Executors.newSingleThreadScheduledExecutor();
    link.scheduleAtFixedRate(
        () -> standIn.faults(changes.getAndIncrement() % 2 == 0 ? "port down" : "port up"),
        0,
        500,
        TimeUnit.MILLISECONDS);
    try {
      while (changes.get() < 20) {
        run();
      }
    } finally {
      link.shutdownNow();
      link.close();
      standIn.faults();
    }
    Traffic added = cluster().traffic().since(before);
    assertTrue(added.bytesByRdma() > 0, added::toString);
    assertTrue(added.bytesByTcp() > 0, added::toString);
    assertEquals(0, added.fetchFailures(), added::toString);
    sleep(100); // until all have seen that the port is up
    runUndisturbed(SCENARIO);
  }

  /** Last, since it does not come back; the counters do not reach the driver any more either. */
  @Test
  @Order(3)
  void shouldUseTcpWhenTheRegistryIsGone() {
    SparkEnv driver = SparkEnv.get();
    RpcEndpointRef registry =
        RpcUtils.makeDriverRef(RegistryEndpoint.NAME, driver.conf(), driver.rpcEnv());
    driver.rpcEnv().stop(registry);

    assertResult(SCENARIO, SCENARIO.run(cluster().session().newSession()));
    assertTrue(cluster().executorLogs().contains("REGISTRY_FAILED"), "the reason is named");
    assertFalse(cluster().executorLogs().contains("Uncaught exception"), "nobody died of it");
  }

  private Traffic run() {
    Outcome outcome = cluster().run(SCENARIO);
    assertResult(SCENARIO, outcome.lines());
    assertEquals(0, outcome.traffic().fetchFailures(), outcome.traffic()::toString);
    return outcome.traffic();
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  @Override
  void checkAfterStop() {
    standIn.assertNothingLeft();
  }
}
