package dev.verbatim.shuffle.metrics;

import java.util.function.Supplier;

/**
 * Answers with what it found up to a second ago: who reads all metrics asks once for each of them.
 * Thread-safe.
 */
final class Recently<T> implements Supplier<T> {
  private static final long AGE_NANOS = 1_000_000_000L;

  private final Supplier<T> source;
  private T value;
  private long foundNanos;

  Recently(Supplier<T> source) {
    this.source = source;
  }

  @Override
  public synchronized T get() {
    long now = System.nanoTime();
    if (value == null || now - foundNanos >= AGE_NANOS) {
      value = source.get();
      foundNanos = now;
    }
    return value;
  }
}
