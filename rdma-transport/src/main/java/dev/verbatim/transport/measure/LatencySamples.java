package dev.verbatim.transport.measure;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Latencies of one measurement, exact up to a million; of more, quantiles are those of a random
 * choice. One thread adds at a time.
 */
final class LatencySamples {
  static final int MOST = 1 << 20;

  private final SplittableRandom random = new SplittableRandom(1);
  private long[] kept = new long[1 << 10];
  private long count;
  private long min = Long.MAX_VALUE;
  private long max;
  private double sum;

  void add(long nanos) {
    min = Math.min(min, nanos);
    max = Math.max(max, nanos);
    sum += nanos;
    if (count < MOST) {
      if (count == kept.length) {
        kept = Arrays.copyOf(kept, 2 * kept.length);
      }
      kept[(int) count] = nanos;
    } else {
      long at = random.nextLong(count + 1);
      if (at < MOST) {
        kept[(int) at] = nanos;
      }
    }
    count++;
  }

  long count() {
    return count;
  }

  /** 0 when there are none, as all others. */
  long min() {
    return count == 0 ? 0 : min;
  }

  long max() {
    return max;
  }

  double average() {
    return count == 0 ? 0 : sum / count;
  }

  /** The latencies that these shares of all, from 0 to 1, did not exceed. */
  long[] quantiles(double... shares) {
    long[] sorted = Arrays.copyOf(kept, (int) Math.min(count, MOST));
    Arrays.sort(sorted);
    return Arrays.stream(shares)
        .mapToLong(
            share ->
                sorted.length == 0
                    ? 0
                    : sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)])
        .toArray();
  }
}
