package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.GatedShuffle;
import dev.verbatim.it.spark.fixture.Job;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.ShuffleService;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.StockSpark;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Spark's external shuffle service serves blocks, also those of executors that are no more. */
@Tag("standin")
class ShuffleServiceTest {
  private final StandIn standIn = new StandIn();
  private final ShuffleService service = new ShuffleService();

  @BeforeAll
  static void compute() {
    StockSpark.compute(List.of(Scenario.REPARTITION, Scenario.GATED_SHUFFLE));
  }

  @AfterEach
  void stop() {
    service.close();
  }

  @Test
  void shouldLeaveAllBlocksToTheServiceWhenTheApplicationUsesIt() {
    TestCluster.Builder application = GatedShuffle.settings(application("shuffle-service"));
    try (TestCluster cluster = service.prepare(application).start()) {
      assertLeftTo("EXTERNAL_SHUFFLE_SERVICE", run(cluster, Scenario.REPARTITION));
      assertBlocksOutliveTheirExecutor(cluster);
    }
  }

  private static void assertBlocksOutliveTheirExecutor(TestCluster cluster) {
    Traffic before = cluster.traffic();
    GatedShuffle shuffle = new GatedShuffle();
    shuffle.start(cluster);
    Executors.kill(Executors.running().keySet().iterator().next());

    assertEquals(StockSpark.result(Scenario.GATED_SHUFFLE), StockSpark.sorted(shuffle.finish()));
    assertEquals(0, cluster.traffic().since(before).fetchFailures());
    cluster.awaitExecutors(2);
  }

  private TestCluster.Builder application(String name) {
    return standIn.prepare(TestCluster.builder(name));
  }

  private static Traffic run(TestCluster cluster, Job job) {
    Outcome outcome = cluster.run(job);
    assertEquals(StockSpark.result(job), StockSpark.sorted(outcome.lines()));
    return outcome.traffic();
  }

  private static void assertLeftTo(String reason, Traffic traffic) {
    assertEquals(0, traffic.bytesByRdma(), traffic::toString);
    assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
    assertEquals(Set.of(reason), traffic.fallbacks().keySet());
  }
}
