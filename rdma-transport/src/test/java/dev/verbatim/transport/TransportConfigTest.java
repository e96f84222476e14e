package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class TransportConfigTest {

  @Test
  void shouldAcceptDefaults() {
    assertDoesNotThrow(() -> new TransportConfig().conclude());
  }

  @Test
  void shouldAcceptBothEndsOfARange() {
    assertAll(
        () -> new TransportConfig().readDepth(1).conclude(),
        () -> new TransportConfig().readDepth(255).conclude(),
        () -> new TransportConfig().trafficClass(0).conclude(),
        () -> new TransportConfig().trafficClass(255).conclude());
  }

  @Test
  void shouldNameValueAndRangeWhenOutOfRange() {
    assertAll(
        () -> assertRefused("readDepth = 0 is out of range: 1 to 255", c -> c.readDepth(0)),
        () -> assertRefused("readDepth = 256 is out of range", c -> c.readDepth(256)),
        () -> assertRefused("qpsPerPeer = 65 is out of range: 1 to 64", c -> c.qpsPerPeer(65)),
        () -> assertRefused("trafficClass = 256 is out of range", c -> c.trafficClass(256)),
        () -> assertRefused("listenPort = 65536 is out of range", c -> c.listenPort(65_536)),
        () -> assertRefused("maxConnections = 1 is out", c -> c.qpsPerPeer(2).maxConnections(1)),
        () -> assertRefused("connectTimeout = PT0S", c -> c.connectTimeout(Duration.ZERO)),
        () -> assertRefused("readTimeout = PT-1S", c -> c.readTimeout(Duration.ofSeconds(-1))),
        () -> assertRefused("poolBytes = 4096 is out of range", c -> c.poolBytes(4096)),
        () -> assertRefused("not a multiple of the page size", c -> c.slabBytes(5000)),
        () ->
            assertRefused(
                "address = 0.0.0.0 is a wildcard",
                c -> c.address(InetAddress.ofLiteral("0.0.0.0"))));
  }

  private static void assertRefused(String expected, UnaryOperator<TransportConfig> change) {
    TransportConfig config = change.apply(new TransportConfig());
    String message = assertThrows(IllegalArgumentException.class, config::conclude).getMessage();
    assertTrue(message.contains(expected), message);
  }
}
