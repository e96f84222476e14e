package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.Traffic;
import org.junit.jupiter.api.Tag;

@Tag("standin")
class StandInFaultsTest extends DeviceFaultTests {
  StandInFaultsTest() {
    super(new StandIn());
  }

  /** Here a READ copies from the mapping and fails; no process may be killed by a signal. */
  @Override
  void assertTravelledWhenTruncated(Traffic traffic) {
    assertTrue(traffic.fetchFailures() > 0, () -> "TCP has nothing to serve either: " + traffic);
  }
}
