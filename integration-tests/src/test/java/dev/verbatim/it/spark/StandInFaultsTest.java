package dev.verbatim.it.spark;

import dev.verbatim.it.spark.fixture.StandIn;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("standin")
class StandInFaultsTest extends FaultTests {
  StandInFaultsTest() {
    super(new StandIn());
  }

  @Test
  @Order(2)
  void shouldUseTcpWhileThePortIsDownAndRdmaWhenItIsUpAgain() {
    flapPort();
  }
}
