package dev.verbatim.shuffle.registry;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Asks again after each failure, with growing pauses, a bounded number of times. Thread-safe. */
final class Persistence {
  /** With the pauses between them, some 80 seconds and the time that each takes to fail. */
  static final int MOST_ATTEMPTS = 10;

  private final ScheduledExecutorService timer;
  private final Duration firstPause;

  /**
   * @param firstPause the next ones are as {@link RetryPause} says
   */
  Persistence(ScheduledExecutorService timer, Duration firstPause) {
    this.timer = timer;
    this.firstPause = firstPause;
  }

  /** The first answer; fails with the last failure, or when the timer is stopped. */
  <A> CompletableFuture<A> ask(Supplier<CompletableFuture<A>> question) {
    return ask(question, 1, firstPause);
  }

  private <A> CompletableFuture<A> ask(
      Supplier<CompletableFuture<A>> question, int attempt, Duration pause) {
    return question
        .get()
        .exceptionallyCompose(
            error ->
                attempt == MOST_ATTEMPTS
                    ? CompletableFuture.failedFuture(error)
                    : after(pause)
                        .thenCompose(done -> ask(question, attempt + 1, RetryPause.after(pause))));
  }

  private CompletableFuture<Void> after(Duration pause) {
    CompletableFuture<Void> end = new CompletableFuture<>();
    try {
      timer.schedule(() -> end.complete(null), pause.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      end.completeExceptionally(e);
    }
    return end;
  }
}
