package dev.verbatim.transport;

import java.time.Duration;

/**
 * How long it is worth to look for completions before blocking: half as long after a look that has
 * found nothing, but never nothing; twice as long after one that has found some. Used by one
 * thread.
 */
final class SpinTime {
  private static final int LEAST_PART = 16;

  private final long most;
  private long nanos;

  SpinTime(Duration most) {
    this.most = most.toNanos();
    this.nanos = this.most;
  }

  long nanos() {
    return nanos;
  }

  void found() {
    nanos = Math.min(most, nanos * 2);
  }

  void foundNothing() {
    nanos = Math.max(most / LEAST_PART, nanos / 2);
  }
}
