package dev.verbatim.it.spark;

import dev.verbatim.it.spark.fixture.SoftRoce;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("guest")
class SoftRoceFaultsTest extends FaultTests {
  SoftRoceFaultsTest() {
    super(new SoftRoce());
  }

  @Test
  @Order(2)
  void shouldUseTcpWhileThePortIsDownAndRdmaWhenItIsUpAgain() {
    flapPort();
  }
}
