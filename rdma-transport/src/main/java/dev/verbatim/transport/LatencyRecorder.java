package dev.verbatim.transport;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts times as {@link LatencyCounts}. One thread records, others may look: recording takes no
 * lock and no atomic addition, and allocates nothing.
 */
final class LatencyRecorder {
  private final AtomicLongArray counts = new AtomicLongArray(LatencyCounts.BUCKETS);

  /** Counts a time, for so many that are taken to be alike. */
  void record(long nanos, int times) {
    int bucket = LatencyCounts.bucket(nanos);
    counts.setRelease(bucket, counts.getPlain(bucket) + times);
  }

  LatencyCounts snapshot() {
    long[] copy = new long[LatencyCounts.BUCKETS];
    for (int i = 0; i < copy.length; i++) {
      copy[i] = counts.getAcquire(i);
    }
    return new LatencyCounts(copy);
  }
}
