package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.device.DeviceLimits;
import java.util.Random;
import org.junit.jupiter.api.Test;

class QueueLimitsTest {

  private static DeviceLimits device(int maxQp, int maxQpWr, int maxCqe, int serve, int initiate) {
    return new DeviceLimits(
        maxQp, maxQpWr, 32, 32, 1000, maxCqe, 1000, 1L << 40, 100, serve, initiate, 1 << 16, true);
  }

  @Test
  void shouldNegotiateTheLeastOfAllDepthsForAllCaps() {
    for (int wanted = 1; wanted <= 255; wanted++) {
      TransportConfig config = new TransportConfig().readDepth(wanted);
      for (int cap = 0; cap <= 255; cap++) {
        QueueLimits limits =
            QueueLimits.of(config, device(100, 100, 10_000, cap, 255 - cap), 1 << 20);
        assertEquals(Math.min(wanted, 255 - cap), limits.initiatorDepth());
        assertEquals(Math.min(wanted, cap), limits.responderDepth());
      }
    }
    for (int one = 0; one <= 255; one++) {
      for (int other = 0; other <= 255; other++) {
        assertEquals(Math.min(one, other), QueueLimits.depth(one, other));
      }
    }
  }

  @Test
  void shouldStayWithinRdmaCmsRangeWhenADeviceReportsMore() {
    QueueLimits limits =
        QueueLimits.of(
            new TransportConfig().readDepth(255), device(100, 100, 10_000, 4096, -1), 1 << 20);
    assertEquals(255, limits.responderDepth());
    assertEquals(0, limits.initiatorDepth());
  }

  /** Whatever the device: nothing over its limits, and the completion queue cannot overrun. */
  @Test
  void shouldNeverExceedADevicesLimits() {
    Random random = new Random(3);
    for (int round = 0; round < 20_000; round++) {
      DeviceLimits device =
          device(
              1 + random.nextInt(1 << random.nextInt(20)),
              1 + random.nextInt(1 << random.nextInt(16)),
              1 + random.nextInt(1 << random.nextInt(23)),
              16,
              16);
      TransportConfig config =
          new TransportConfig().maxConnections(1 + random.nextInt(1 << random.nextInt(20)));
      QueueLimits limits = QueueLimits.of(config, device, 1 << 20);
      assertTrue(limits.maxConnections() >= 1);
      assertTrue(limits.maxConnections() <= config.maxConnections());
      assertTrue(limits.maxConnections() <= device.maxQp());
      assertTrue(limits.sendQueueDepth() >= 1);
      assertTrue(limits.sendQueueDepth() <= Math.max(1, device.maxQpWr()));
      assertTrue(limits.completionEntries() <= device.maxCqe());
      assertTrue(
          (long) limits.maxConnections() * limits.sendQueueDepth() <= limits.completionEntries(),
          limits + " for " + device);
    }
  }

  @Test
  void shouldSplitAtThePortsMessageSizeOrBelow() {
    DeviceLimits device = device(100, 100, 1000, 16, 16);
    TransportConfig config = new TransportConfig();
    assertEquals(1 << 20, QueueLimits.of(config, device, 1 << 20).maxReadBytes());
    assertEquals(1 << 30, QueueLimits.of(config, device, 1L << 31).maxReadBytes());
    assertEquals(1 << 30, QueueLimits.of(config, device, 0).maxReadBytes());
    assertEquals(4096, QueueLimits.of(config.maxReadBytes(4096), device, 1 << 20).maxReadBytes());
  }
}
