package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.Job;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.StockSpark;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
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
        // Spark asks for a corrupt block again only if it finds out before it hands on records.
        .set("spark.shuffle.detectCorrupt.useExtraMemory", true)
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
    standIn.faults("read nth=3 status=4");

    Traffic traffic = run().traffic();
    assertFellBack(traffic, "READ_FAILED");
    assertTrue(traffic.bytesByRdma() > 0, () -> "only what failed may fall back: " + traffic);
  }

  @Test
  @Order(2)
  void shouldReadOnceMoreByRdmaWhenAConnectionGoesDownUnderItsReads() {
    standIn.faults("read nth=3 status=5");

    Traffic traffic = run().traffic();
    assertEquals(0, traffic.bytesByTcp(), traffic::toString);
    assertTrue(traffic.bytesByRdma() > 0, traffic::toString);
  }

  @Test
  @Order(3)
  void shouldUseRdmaAgainWhenARemovedShuffleIsRecomputedUnderItsOldId() {
    List<String> records = IntStream.range(0, 20_000).mapToObj(i -> "record " + i).toList();
    JavaRDD<String> shuffled = cluster().context().parallelize(records, 6).repartition(7);
    Job collect = session -> shuffled.collect();

    for (int round = 0; round < 3; round++) {
      Outcome outcome = cluster().run(collect);
      assertEquals(StockSpark.sorted(records), StockSpark.sorted(outcome.lines()));
      assertEquals(0, outcome.traffic().bytesByTcp(), () -> outcome.traffic().toString());
      assertTrue(outcome.traffic().bytesByRdma() > 0, () -> outcome.traffic().toString());
      shuffled.rdd().cleanShuffleDependencies(true);
    }
  }

  @Test
  @Order(4)
  void shouldFetchABlockByTcpWhenItsReadNeverCompletes() {
    standIn.faults("read nth=5 drop");

    assertFellBack(run().traffic(), "READ_FAILED");
  }

  @Test
  @Order(5)
  void shouldFetchABlockByTcpWhenItsBytesAreCorruptByRdma() {
    // The data alone: index entries are shorter.
    standIn.faults("read corrupt min_bytes=17");

    Traffic traffic = run().traffic();
    assertFellBack(traffic, "BLOCK_CORRUPT");
    assertEquals(0, traffic.fetchFailures(), () -> "no stage may be repeated: " + traffic);
  }

  @Test
  @Order(6)
  void shouldServeMapOutputsByTcpWhenTheyCannotBeRegistered() {
    standIn.faults("reg_mr errno=ENOMEM");

    Traffic traffic = run().traffic();
    assertEquals(0, traffic.bytesByRdma());
    assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
    assertTrue(!traffic.fallbacks().isEmpty(), "a reason must be counted");
  }

  @Test
  @Order(7)
  void shouldFetchByTcpWhenThePeersRefuseToConnect() {
    standIn.faults("disconnect", "cm reject");
    Deadline.await(
        "fallback for want of connections",
        Duration.ofSeconds(30),
        () -> run().traffic().fallbacks().containsKey("CONNECTION_FAILED"),
        () -> cluster().traffic());
  }

  @Test
  @Order(8)
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
