package dev.verbatim.shuffle.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.transport.LatencyCounts;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LatencyHistogramTest {
  private long nowNanos;
  private LatencyCounts counts = LatencyCounts.NONE;
  private final LatencyHistogram histogram = new LatencyHistogram(() -> counts, () -> nowNanos);

  private void count(int bucket, long count) {
    counts = counts.plus(LatencyCounts.of(Map.of(bucket, count)));
  }

  @Test
  void shouldForgetAfterTwoMinutesButCountOn() {
    count(3, 10);
    assertEquals(3, histogram.getSnapshot().getMax());
    nowNanos += LatencyHistogram.WINDOW_NANOS;
    assertEquals(3, histogram.getSnapshot().getMax(), "a minute is not too old");
    count(1, 5);
    nowNanos += LatencyHistogram.WINDOW_NANOS;

    assertEquals(1, histogram.getSnapshot().getMax());
    assertEquals(1, histogram.getSnapshot().getMedian());
    assertEquals(15, histogram.getCount());
  }

  @Test
  void shouldTellWhatCameSinceTheLastLookWhenItIsLongAgo() {
    nowNanos += 100 * LatencyHistogram.WINDOW_NANOS;
    count(2, 1);

    assertEquals(2, histogram.getSnapshot().getMin());
    assertEquals(1, histogram.getSnapshot().size());
  }
}
