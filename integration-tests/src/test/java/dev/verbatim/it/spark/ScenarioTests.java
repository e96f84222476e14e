package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Device;
import dev.verbatim.it.spark.fixture.Job;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** All scenarios, with Spark's default serializer. */
abstract class ScenarioTests extends ApplicationTests {
  ScenarioTests(Device device) {
    super(device);
  }

  @Override
  Collection<? extends Job> scenarios() {
    return List.of(Scenario.values());
  }

  @Override
  final TestCluster.Builder settings(TestCluster.Builder application) {
    return application;
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource
  void shouldReturnWhatStockSparkReturns(Scenario scenario) {
    Outcome outcome = runUndisturbed(scenario);

    if (scenario == Scenario.LARGE_PARTITION) {
      assertTrue(outcome.traffic().remoteBytesToDisk() > 0, "large blocks must go to disk");
    }
  }
}
