package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.it.spark.fixture.SoftIwarp;
import dev.verbatim.it.spark.fixture.Traffic;
import org.junit.jupiter.api.Tag;

@Tag("iwarp")
class SoftIwarpFaultsTest extends DeviceFaultTests {
  SoftIwarpFaultsTest() {
    super(new SoftIwarp());
  }

  /** The device holds the pages, so a READ brings what was there. */
  @Override
  void assertTravelledWhenTruncated(Traffic traffic) {
    assertEquals(0, traffic.bytesByTcp(), traffic::toString);
  }
}
