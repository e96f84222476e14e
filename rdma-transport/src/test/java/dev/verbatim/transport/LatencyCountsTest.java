package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LatencyCountsTest {

  private static LatencyCounts of(long... nanos) {
    LatencyRecorder recorder = new LatencyRecorder();
    LongStream.of(nanos).forEach(time -> recorder.record(time, 1));
    return recorder.snapshot();
  }

  @ParameterizedTest
  @ValueSource(
      longs = {0, 1, 7, 8, 9, 15, 16, 17, 1_000, 4_095, 4_096, 123_456_789, (1L << 40) - 1})
  void shouldTellATimeToOneSixteenthWhereverItIs(long nanos) {
    long told = of(nanos).quantileNanos(0.5);

    assertTrue(Math.abs(told - nanos) <= nanos / 16, () -> nanos + " is told as " + told);
  }

  @Test
  void shouldTellTheQuantilesOfManyTimes() {
    long[] nanos = new Random(1).longs(10_000, 1_000, 100_000_000).sorted().toArray();

    LatencyCounts counts = of(nanos);

    assertEquals(10_000, counts.count());
    for (double share : new double[] {0.01, 0.5, 0.99, 1}) {
      long exact = nanos[(int) (share * nanos.length) - 1];
      assertEquals(exact, counts.quantileNanos(share), exact / 16.0 + 1, () -> share + "");
    }
    double mean = LongStream.of(nanos).average().orElseThrow();
    assertEquals(mean, counts.meanNanos(), mean / 50);
  }

  @Test
  void shouldCountWhatIsOutOfRangeAtTheEnds() {
    LatencyCounts counts = of(-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 50);

    assertEquals(Map.of(0, 2L, LatencyCounts.BUCKETS - 1, 2L), counts.byBucket());
  }

  @Test
  void shouldAddAndTakeAway() {
    LatencyCounts one = of(10, 5_000);
    LatencyCounts other = of(5_000, 70_000);

    LatencyCounts sum = one.plus(other);

    assertEquals(of(10, 5_000, 5_000, 70_000), sum);
    assertEquals(other, sum.since(one));
    assertEquals(LatencyCounts.NONE, one.since(sum));
    assertEquals(sum, LatencyCounts.of(sum.byBucket()));
  }

  @Test
  void shouldTellZeroWhenThereAreNone() {
    assertEquals(0, LatencyCounts.NONE.quantileNanos(0.99));
    assertEquals(0, LatencyCounts.NONE.meanNanos());
    assertEquals(0, LatencyCounts.NONE.deviationNanos());
  }

  @Test
  void shouldRefuseBucketsThatThereAreNot() {
    assertThrows(
        IllegalArgumentException.class, () -> LatencyCounts.of(Map.of(LatencyCounts.BUCKETS, 1L)));
    assertThrows(IllegalArgumentException.class, () -> LatencyCounts.of(Map.of(-1, 1L)));
    assertThrows(IllegalArgumentException.class, () -> LatencyCounts.of(Map.of(1, -1L)));
  }
}
