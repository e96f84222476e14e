package dev.verbatim.transport.measure;

import dev.verbatim.transport.EndpointException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One measured time: how many messages are still to be posted, and what those took that ended. */
final class MeasureRun {
  private static final long ROUND_MILLIS = 100;

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

  /** What is measured, without what warms up. */
  static MeasureRun of(MeasureConfig config) {
    return config.duration().isZero()
        ? ofMessages(config.iterations())
        : new MeasureRun(Long.MAX_VALUE, config.duration().toNanos());
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

  /** No more messages are posted. */
  synchronized void stop() {
    left = 0;
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

  /** Waits as long as messages end. */
  void await(MeasureConfig config) throws EndpointException, InterruptedException {
    long seen = -1;
    long since = System.nanoTime();
    while (true) {
      try {
        ended.get(ROUND_MILLIS, TimeUnit.MILLISECONDS);
        return;
      } catch (TimeoutException e) {
        if (progress() != seen) {
          seen = progress();
          since = System.nanoTime();
        } else if (System.nanoTime() - since > config.patience().toNanos()) {
          throw new EndpointException(
              "after %d of %s, each of %d bytes, none has ended within %s"
                  .formatted(seen, config.operation(), config.bytes(), config.patience()),
              e);
        }
      } catch (ExecutionException e) {
        throw new EndpointException(e.getCause().getMessage(), e.getCause());
      }
    }
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
