package dev.verbatim.shuffle;

import dev.verbatim.shuffle.registry.RetryPause;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tries something that has failed again, on a thread of its own, with pauses that grow to a limit,
 * until it is done or this is closed.
 */
final class BackgroundRetry implements AutoCloseable {
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration JOIN_TIMEOUT = Duration.ofSeconds(10);

  private static final Logger LOG = LoggerFactory.getLogger(BackgroundRetry.class);

  /** What is tried. */
  @FunctionalInterface
  interface Attempt {
    /** False when it is to be tried again. */
    boolean done();
  }

  private final Attempt attempt;
  private final Thread thread;

  private BackgroundRetry(String name, Attempt attempt) {
    this.attempt = attempt;
    this.thread = Thread.ofPlatform().daemon(true).name("verbatim-" + name).unstarted(this::run);
  }

  /** The first attempt comes after a pause. */
  static BackgroundRetry start(String name, Attempt attempt) {
    BackgroundRetry retry = new BackgroundRetry(name, attempt);
    retry.thread.start();
    return retry;
  }

  private void run() {
    Duration pause = FIRST_PAUSE;
    do {
      try {
        Thread.sleep(pause);
      } catch (InterruptedException e) {
        return; // closed
      }
      pause = RetryPause.after(pause);
    } while (!succeeds());
  }

  private boolean succeeds() {
    try {
      return attempt.done();
    } catch (RuntimeException | Error e) {
      LOG.warn("An attempt failed and is made again", e);
      return false;
    }
  }

  /** Waits for an attempt that is under way. Idempotent. */
  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join(JOIN_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
