package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** One thing after another stops working between three executors, and the result stays right. */
@Tag("standin")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StandInFallbackTest extends ApplicationTests {
  private static final Scenario SCENARIO = Scenario.REPARTITION;
  private static final int EXECUTORS = 3;

  private final StandIn standIn;

  StandInFallbackTest() {
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
    return application
        .executors(EXECUTORS)
        .set("spark.shuffle.rdma.copyThreshold", 0)
        .set("spark.shuffle.rdma.retryBackoff", "100ms")
        .set("spark.shuffle.rdma.connectTimeout", "1s")
        .set("spark.shuffle.rdma.readTimeout", "1s");
  }

  /** Each test begins with a device that works. */
  @BeforeEach
  void heal() {
    standIn.faults();
    Deadline.await(
        "healing of the device",
        Duration.ofSeconds(30),
        () -> run().traffic().bytesByTcp() == 0,
        () -> cluster().traffic());
    runUndisturbed(SCENARIO);
  }

  @Test
  @Order(1)
  void shouldFetchABlockByTcpWhenItsReadFails() {
    standIn.faults("read nth=3 status=10");

    Traffic traffic = run().traffic();
    assertFellBack(traffic, "READ_FAILED");
    assertTrue(traffic.bytesByRdma() > 0, () -> "only what failed may fall back: " + traffic);
  }

  @Test
  @Order(2)
  void shouldFetchABlockByTcpWhenItsReadNeverCompletes() {
    standIn.faults("read nth=5 drop");

    assertFellBack(run().traffic(), "READ_FAILED");
  }

  @Test
  @Order(3)
  void shouldServeMapOutputsByTcpWhenTheyCannotBeRegistered() {
    standIn.faults("reg_mr errno=ENOMEM");

    Traffic traffic = run().traffic();
    assertEquals(0, traffic.bytesByRdma());
    assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
    assertTrue(!traffic.fallbacks().isEmpty(), "a reason must be counted");
  }

  @Test
  @Order(4)
  void shouldFetchByTcpWhenThePeersRefuseToConnect() {
    standIn.faults("disconnect", "cm reject");
    Deadline.await(
        "fallback for want of connections",
        Duration.ofSeconds(30),
        () -> run().traffic().fallbacks().containsKey("CONNECTION_FAILED"),
        () -> cluster().traffic());
  }

  @Test
  @Order(5)
  void shouldUseRdmaOnlyAmongThoseWhoHaveItWhenOneExecutorHasNone() {
    standIn.faults("device absent");
    Executors.kill(Executors.running().keySet().iterator().next());
    cluster().awaitExecutors(EXECUTORS);

    Traffic traffic = run().traffic();
    assertFellBack(traffic, "PEER_WITHOUT_RDMA");
    assertTrue(traffic.fallbacks().containsKey("NO_DEVICE"), traffic::toString);
    assertTrue(traffic.bytesByRdma() > 0, () -> "two of the executors have RDMA: " + traffic);
  }

  private Outcome run() {
    Outcome outcome = cluster().run(SCENARIO);
    assertResult(SCENARIO, outcome.lines());
    return outcome;
  }

  private static void assertFellBack(Traffic traffic, String reason) {
    assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
    assertTrue(traffic.fallbacks().containsKey(reason), traffic::toString);
  }
}
