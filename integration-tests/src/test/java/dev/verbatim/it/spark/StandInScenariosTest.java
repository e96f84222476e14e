package dev.verbatim.it.spark;

import dev.verbatim.it.spark.fixture.StandIn;
import org.junit.jupiter.api.Tag;

@Tag("standin")
class StandInScenariosTest extends ScenarioTests {
  private final StandIn standIn;

  StandInScenariosTest() {
    StandIn device = new StandIn();
    super(device);
    standIn = device;
  }

  @Override
  void checkAfterStop() {
    standIn.assertNothingLeft();
  }
}
