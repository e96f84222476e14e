package dev.verbatim.it.spark;

import dev.verbatim.it.spark.fixture.SoftIwarp;
import org.junit.jupiter.api.Tag;

@Tag("iwarp")
class SoftIwarpFaultsTest extends DeviceFaultTests {
  SoftIwarpFaultsTest() {
    super(new SoftIwarp());
  }
}
