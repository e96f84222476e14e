package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.device.DeviceLimits;
import java.time.Duration;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class EndpointConfigTest {
  private static DeviceLimits device(int maxQp, int maxQpWr, int maxSge, int maxCqe) {
    return new DeviceLimits(
        maxQp, maxQpWr, maxSge, 32, 10, maxCqe, 10, 1L << 40, 10, 8, 4, 100, true);
  }

  static Stream<Arguments> outOfRange() {
    return Stream.of(
        wrong("maxEndpoints = 0", c -> c.maxEndpoints(0)),
        wrong("sendDepth = 0", c -> c.sendDepth(0)),
        wrong("receiveDepth = 65537", c -> c.receiveDepth(65_537)),
        wrong("slices = 33", c -> c.slices(33)),
        wrong("inlineBytes = -1", c -> c.inlineBytes(-1)),
        wrong("readDepth = 256", c -> c.readDepth(256)),
        wrong("rnrRetry = 8", c -> c.rnrRetry(8)),
        wrong("rnrDelay = PT0.00000999S", c -> c.rnrDelay(Duration.ofNanos(9990))),
        wrong("rnrDelay = PT0.656S", c -> c.rnrDelay(Duration.ofMillis(656))),
        wrong("connectTimeout = PT0S", c -> c.connectTimeout(Duration.ZERO)),
        wrong("peerTimeout = PT2H", c -> c.peerTimeout(Duration.ofHours(2))),
        wrong("spin = PT-1S", c -> c.spin(Duration.ofSeconds(-1))),
        wrong("trafficClass = 256", c -> c.trafficClass(256)),
        wrong("numaNode = -2", c -> c.numaNode(-2)));
  }

  private static Arguments wrong(String message, UnaryOperator<EndpointConfig> change) {
    return Arguments.of(message, change);
  }

  @ParameterizedTest
  @MethodSource("outOfRange")
  void shouldNameTheValueWhenItIsOutOfRange(String message, UnaryOperator<EndpointConfig> change) {
    EndpointConfig config = change.apply(new EndpointConfig());
    String seen = assertThrows(IllegalArgumentException.class, config::conclude).getMessage();
    assertTrue(seen.startsWith(message + " is out of range"), seen);
  }

  @Test
  void shouldTakeTheLeastOfWhatIsWantedAndWhatTheDeviceHas() throws Exception {
    EndpointConfig config = new EndpointConfig().conclude();
    EndpointLimits limits = EndpointLimits.of(config, device(16, 128, 1, 4096), 1 << 23);
    assertEquals(new EndpointLimits(128, 128, 1, 1, 64, 4, 1 << 23, true), limits);
    assertEquals(1L << 30, EndpointLimits.of(config, device(16, 128, 1, 4096), 0).messageBytes());
    assertEquals(0, limits.withInlineBytes(0).inlineBytes());
  }

  /** As iWARP devices do, siw for one: a READ with more is refused by the device, if at all. */
  @Test
  void shouldTellHowManySlicesAReadTakes() throws Exception {
    EndpointConfig config = new EndpointConfig().slices(4);
    for (int[] told : new int[][] {{1, 1}, {32, 4}, {0, 4}}) { // 0 is none
      DeviceLimits device =
          new DeviceLimits(16, 128, 8, told[0], 10, 4096, 10, 1 << 30, 10, 8, 4, 100, true);
      EndpointLimits limits = EndpointLimits.of(config, device, 0);
      assertEquals(4, limits.slices());
      assertEquals(told[1], limits.readSlices());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "15, 128, 1, 4096, maxEndpoints = 16 is more than the device's max_qp; 15",
    "16, 127, 1, 4096, sendDepth = 128 is more than the device's max_qp_wr; 127",
    "16, 128, 0, 4096, slices = 1 is more than the device's max_sge; 0",
    "16, 128, 1, 4095, maxEndpoints * (sendDepth + receiveDepth) = 4096 is more than the device's"
        + " max_cqe; 4095",
  })
  void shouldSayWhatTheDeviceDoesNotAllow(
      int maxQp, int maxQpWr, int maxSge, int maxCqe, String message) {
    DeviceLimits device = device(maxQp, maxQpWr, maxSge, maxCqe);
    EndpointException refused =
        assertThrows(
            EndpointException.class, () -> EndpointLimits.of(new EndpointConfig(), device, 0));
    assertEquals(message.replace(';', ','), refused.getMessage());
  }

  /** Codes as in the InfiniBand architecture's table of RNR NAK timers. */
  @ParameterizedTest
  @CsvSource({
    "10, 1",
    "11, 2",
    "20, 2",
    "30, 3",
    "41, 5",
    "640, 12",
    "641, 13",
    "1000, 14",
    "491520, 31",
    "491521, 0",
    "655360, 0"
  })
  void shouldWaitNoShorterThanAskedFor(long micros, int code) {
    assertEquals(code, RnrDelay.code(Duration.ofNanos(micros * 1000)));
  }
}
