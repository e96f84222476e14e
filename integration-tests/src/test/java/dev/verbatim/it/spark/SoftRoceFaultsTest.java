package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.it.spark.fixture.SoftRoce;
import dev.verbatim.it.spark.fixture.Traffic;
import org.junit.jupiter.api.Tag;

@Tag("guest")
class SoftRoceFaultsTest extends DeviceFaultTests {
  SoftRoceFaultsTest() {
    super(new SoftRoce());
  }

  /** The device holds the pages, so a READ brings what was there. */
  @Override
  void assertTravelledWhenTruncated(Traffic traffic) {
    assertEquals(0, traffic.bytesByTcp(), traffic::toString);
  }
}
