package dev.verbatim.it.spark;

import dev.verbatim.it.spark.fixture.SoftRoce;
import org.junit.jupiter.api.Tag;

@Tag("guest")
class SoftRoceFaultsTest extends DeviceFaultTests {
  SoftRoceFaultsTest() {
    super(new SoftRoce());
  }
}
