package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Device;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.GatedShuffle;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.Traffic;
import java.util.Collection;
import java.util.EnumSet;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What goes wrong in the middle of a job, after some jobs where nothing does. This application uses
 * Kryo, registers even small map outputs in place and fetches one block at a time.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
abstract class FaultTests extends ApplicationTests {
  FaultTests(Device device) {
    super(device);
  }

  @Override
  final Collection<Scenario> scenarios() {
    return EnumSet.range(Scenario.REDUCE_BY_KEY, Scenario.GATED_SHUFFLE);
  }

  @Override
  final TestCluster.Builder settings(TestCluster.Builder application) {
    return GatedShuffle.settings(application)
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.kryo.registrationRequired", true)
        .set("spark.shuffle.rdma.copyThreshold", 0);
  }

  @ParameterizedTest(name = "{0}")
  @Order(1)
  @EnumSource(mode = EnumSource.Mode.MATCH_NONE, names = "SQL_.*")
  void shouldReturnWhatStockSparkReturnsWhenKryoSerializes(Scenario scenario) {
    runUndisturbed(scenario);
  }

  @Test
  @Order(5)
  void shouldRecomputeWhenAnExecutorIsKilledWhileOthersReadFromIt() {
    Traffic before = cluster().traffic();
    GatedShuffle shuffle = new GatedShuffle();
    shuffle.start(cluster());
    Executors.kill(Executors.running().keySet().iterator().next());

    assertResult(Scenario.GATED_SHUFFLE, shuffle.finish());
    Traffic added = cluster().traffic().since(before);
    assertTrue(added.fetchFailures() > 0, () -> "a reducer must have met a FetchFailed: " + added);
  }
}
