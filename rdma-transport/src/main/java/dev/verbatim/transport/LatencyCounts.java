package dev.verbatim.transport;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * How often something took how long, in buckets: eight for each power of two nanoseconds, so that
 * what it tells of a time is at most one sixteenth off. Sums of several are exact. Immutable.
 */
public final class LatencyCounts {
  /** Longer times, from about 18 minutes, count for the last bucket. */
  public static final int BUCKETS = bucketOf(1L << 40) + 1;

  public static final LatencyCounts NONE = new LatencyCounts(new long[BUCKETS]);

  private static final int STEP_BITS = 3;
  private static final int STEPS = 1 << STEP_BITS;

  private final long[] counts;
  private final long count;

  LatencyCounts(long[] counts) {
    this.counts = counts;
    this.count = Arrays.stream(counts).sum();
  }

  /**
   * The opposite of {@link #byBucket}.
   *
   * @throws IllegalArgumentException when a bucket is not from 0 to {@link #BUCKETS} - 1, or its
   *     count negative
   */
  public static LatencyCounts of(Map<Integer, Long> byBucket) {
    if (byBucket.isEmpty()) {
      return NONE;
    }
    long[] counts = new long[BUCKETS];
    byBucket.forEach(
        (bucket, count) -> {
          if (bucket < 0 || bucket >= BUCKETS || count < 0) {
            throw new IllegalArgumentException(count + " in bucket " + bucket);
          }
          counts[bucket] = count;
        });
    return new LatencyCounts(counts);
  }

  static int bucket(long nanos) {
    return Math.min(bucketOf(Math.max(0, nanos)), BUCKETS - 1);
  }

  private static int bucketOf(long nanos) {
    if (nanos < STEPS) {
      return (int) nanos;
    }
    int shift = 63 - Long.numberOfLeadingZeros(nanos) - STEP_BITS;
    return (shift + 1 << STEP_BITS) + (int) (nanos >>> shift & STEPS - 1);
  }

  /** The middle of a bucket. */
  private static long nanos(int bucket) {
    if (bucket < STEPS) {
      return bucket;
    }
    int shift = (bucket >> STEP_BITS) - 1;
    return ((long) (STEPS + (bucket & STEPS - 1)) << shift) + (1L << shift >> 1);
  }

  public long count() {
    return count;
  }

  /** The counts that are not 0. */
  public Map<Integer, Long> byBucket() {
    Map<Integer, Long> byBucket = new TreeMap<>();
    for (int i = 0; i < BUCKETS; i++) {
      if (counts[i] != 0) {
        byBucket.put(i, counts[i]);
      }
    }
    return byBucket;
  }

  /** One time for each bucket that is not empty, nanoseconds, in their order. */
  public long[] values() {
    return byBucket().keySet().stream().mapToLong(LatencyCounts::nanos).toArray();
  }

  public LatencyCounts plus(LatencyCounts other) {
    if (other.count == 0) {
      return this;
    }
    long[] sum = new long[BUCKETS];
    Arrays.setAll(sum, i -> counts[i] + other.counts[i]);
    return new LatencyCounts(sum);
  }

  /** What came since {@code earlier}. */
  public LatencyCounts since(LatencyCounts earlier) {
    long[] added = new long[BUCKETS];
    Arrays.setAll(added, i -> Math.max(0, counts[i] - earlier.counts[i]));
    return new LatencyCounts(added);
  }

  /**
   * The time that this share of all did not exceed, nanoseconds; 0 when there are none.
   *
   * @param share from 0 to 1
   */
  public long quantileNanos(double share) {
    long wanted = Math.max(1, (long) Math.ceil(share * count));
    long seen = 0;
    for (int i = 0; i < BUCKETS; i++) {
      seen += counts[i];
      if (seen >= wanted) {
        return nanos(i);
      }
    }
    return 0;
  }

  /** Nanoseconds; 0 when there are none. */
  public double meanNanos() {
    double sum = 0;
    for (int i = 0; i < BUCKETS; i++) {
      sum += (double) counts[i] * nanos(i);
    }
    return count == 0 ? 0 : sum / count;
  }

  /** Standard deviation, nanoseconds; 0 when there are none. */
  public double deviationNanos() {
    double mean = meanNanos();
    double sum = 0;
    for (int i = 0; i < BUCKETS; i++) {
      sum += counts[i] * Math.pow(nanos(i) - mean, 2);
    }
    return count == 0 ? 0 : Math.sqrt(sum / count);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof LatencyCounts o && Arrays.equals(counts, o.counts);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(counts);
  }

  @Override
  public String toString() {
    return count == 0
        ? "none"
        : "%d, half within %d ns, 99 %% within %d ns"
            .formatted(count, quantileNanos(0.5), quantileNanos(0.99));
  }
}
