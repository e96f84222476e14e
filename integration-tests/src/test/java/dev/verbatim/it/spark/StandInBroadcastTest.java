package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.DriverLog;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An application whose tables of map outputs all go to executors as Spark's broadcasts. */
@Tag("standin")
class StandInBroadcastTest extends ApplicationTests {
  StandInBroadcastTest() {
    super(new StandIn());
  }

  @Override
  Collection<Scenario> scenarios() {
    return List.of(Scenario.REDUCE_BY_KEY, Scenario.MANY_PARTITIONS);
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return application
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.kryo.registrationRequired", true)
        .set("spark.shuffle.mapOutput.minSizeForBroadcast", 1);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(names = {"REDUCE_BY_KEY", "MANY_PARTITIONS"})
  void shouldReadByRdmaWhatABroadcastTellsOf(Scenario scenario) {
    try (DriverLog log = new DriverLog()) {
      runUndisturbed(scenario);

      assertTrue(
          log.lines().stream().anyMatch(line -> line.contains("go to executors as Broadcast(")),
          () -> String.join("\n", log.lines()));
    }
    assertFalse(cluster().executorLogs().contains("A table that is shared did not come"));
  }
}
