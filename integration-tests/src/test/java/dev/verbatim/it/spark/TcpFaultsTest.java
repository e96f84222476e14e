package dev.verbatim.it.spark;

import dev.verbatim.it.spark.fixture.NoDevice;
import org.junit.jupiter.api.Tag;

@Tag("tcp")
class TcpFaultsTest extends FaultTests {
  TcpFaultsTest() {
    super(new NoDevice());
  }
}
