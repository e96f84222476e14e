package dev.verbatim.transport.measure;

import java.time.Duration;

/** What to measure, and for how long. Setters are fluent. */
public final class MeasureConfig {
  /** Longest message that can be measured, bytes. */
  public static final long MOST_BYTES = 1L << 30;

  private MeasuredOperation operation = MeasuredOperation.READ;
  private long bytes = 65_536;
  private int depth = 1;
  private int queuePairs = 1;
  private long iterations = 1000;
  private long warmUp = 100;
  private Duration duration = Duration.ZERO;
  private Duration patience = Duration.ofSeconds(30);

  public MeasuredOperation operation() {
    return operation;
  }

  public MeasureConfig operation(MeasuredOperation value) {
    operation = value;
    return this;
  }

  /** Of one message, 1 to {@link #MOST_BYTES}. */
  public long bytes() {
    return bytes;
  }

  public MeasureConfig bytes(long value) {
    bytes = value;
    return this;
  }

  /**
   * Messages under way at a time on each queue pair, from 1; 1 for latency. Of SEND no more than
   * the server has receives posted.
   */
  public int depth() {
    return depth;
  }

  public MeasureConfig depth(int value) {
    depth = value;
    return this;
  }

  /** Connections, from 1; the group must have room for so many endpoints. */
  public int queuePairs() {
    return queuePairs;
  }

  public MeasureConfig queuePairs(int value) {
    queuePairs = value;
    return this;
  }

  /**
   * Messages to measure, of all queue pairs together, from 1; not used where there is a duration.
   */
  public long iterations() {
    return iterations;
  }

  public MeasureConfig iterations(long value) {
    iterations = value;
    return this;
  }

  /** Messages before those that count, from 0. */
  public long warmUp() {
    return warmUp;
  }

  public MeasureConfig warmUp(long value) {
    warmUp = value;
    return this;
  }

  /** How long to measure; zero for a number of {@link #iterations}. */
  public Duration duration() {
    return duration;
  }

  public MeasureConfig duration(Duration value) {
    duration = value;
    return this;
  }

  /** Longest time for connecting, and without any message that ends. */
  public Duration patience() {
    return patience;
  }

  public MeasureConfig patience(Duration value) {
    patience = value;
    return this;
  }

  /**
   * Validates all values.
   *
   * @throws IllegalArgumentException naming the value and its range
   */
  public MeasureConfig conclude() {
    range("bytes", bytes, MOST_BYTES);
    range("depth", depth, 1 << 16);
    range("queuePairs", queuePairs, 1 << 16);
    range("iterations", iterations, Long.MAX_VALUE);
    if (warmUp < 0) {
      throw new IllegalArgumentException("warmUp = " + warmUp + " is out of range: from 0");
    }
    if (duration.isNegative() || patience.isNegative() || patience.isZero()) {
      throw new IllegalArgumentException(
          "duration = " + duration + " or patience = " + patience + " is out of range");
    }
    return this;
  }

  private static void range(String name, long value, long most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException(name + " = " + value + " is out of range: 1 to " + most);
    }
  }
}
