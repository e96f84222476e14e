package dev.verbatim.transport.measure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** One measured time: how many messages are still to be posted, and what those took that ended. */
final class MeasureRun {
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final LatencySamples samples = new LatencySamples();
  private final long nanosToRun;
  private long left;
  private long startNanos;
  private long endNanos;
  private int lanes;

  private MeasureRun(long messages, long nanosToRun) {
    this.left = messages;
    this.nanosToRun = nanosToRun;
  }

  static MeasureRun ofMessages(long messages) {
    return new MeasureRun(messages, Long.MAX_VALUE);
  }

  static MeasureRun ofTime(Duration time) {
    return new MeasureRun(Long.MAX_VALUE, time.toNanos());
  }

  synchronized void begin(int queuePairs) {
    lanes = queuePairs;
    startNanos = System.nanoTime();
    endNanos = startNanos;
  }

  /** Whether one more message is to be posted. */
  synchronized boolean claim(long nowNanos) {
    if (left == 0 || nowNanos - startNanos >= nanosToRun) {
      return false;
    }
    left--;
    return true;
  }

  synchronized void record(long latencyNanos, long nowNanos) {
    samples.add(latencyNanos);
    endNanos = nowNanos;
  }

  /** A queue pair has nothing under way any more and will post nothing. */
  synchronized void laneEnded() {
    if (--lanes == 0) {
      ended.complete(null);
    }
  }

  void failed(Exception why) {
    ended.completeExceptionally(why);
  }

  CompletableFuture<Void> ended() {
    return ended;
  }

  /** Messages that have ended. */
  synchronized long progress() {
    return samples.count();
  }

  synchronized Measurement result(MeasureConfig config) {
    long[] quantiles = samples.quantiles(0.5, 0.99);
    return new Measurement(
        config.operation(),
        config.bytes(),
        config.depth(),
        config.queuePairs(),
        samples.count(),
        Math.max(1, endNanos - startNanos),
        samples.min(),
        quantiles[0],
        quantiles[1],
        samples.max(),
        samples.average());
  }
}
