package dev.verbatim.transport;

import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A descriptor, {@code eventfd(2)}, by which other threads end a thread's wait in {@code poll(2)}.
 * After close a signal does nothing: by then the number may be that of somebody else's descriptor.
 */
final class WakeUp {
  private static final int ERROR_PAUSE_MILLIS = 50;

  private static final Logger LOG = LoggerFactory.getLogger(WakeUp.class);

  private final Posix posix;
  private final int fd;
  private boolean closed;

  WakeUp(Posix posix) throws VerbsException {
    this.posix = posix;
    this.fd = posix.eventfd();
  }

  /** To be polled for {@code POLLIN}. */
  int fd() {
    return fd;
  }

  /** Ends the wait, the next one if there is none now. */
  synchronized void signal() {
    if (closed) {
      return;
    }
    try {
      posix.signal(fd);
    } catch (VerbsException | RuntimeException | Error e) {
      // Not the caller's matter: what the thread is to do it finds then.
      say(e, LOG, "A thread cannot be woken up and goes on when its wait is over");
    }
  }

  /** Takes what was signalled, so that the next wait is one. */
  void drain() throws VerbsException {
    posix.drain(fd);
  }

  /**
   * Says that a thread goes on, and pauses. Errors too: they may be over soon, as when direct
   * memory is used up, and without the thread nothing that waits for it would ever end.
   */
  static void goOnAfter(Throwable thrown, Logger log, String what) {
    say(thrown, log, what);
    pauseAfterError();
  }

  /** Logs an error, and throws nothing. */
  static void say(Throwable thrown, Logger log, String what) {
    try {
      log.error(what, thrown);
    } catch (RuntimeException | Error again) {
      // There may be no memory to say so.
    }
  }

  /** After an error that may come again at once: keeps the thread from spinning on it. */
  static void pauseAfterError() {
    try {
      Thread.sleep(ERROR_PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Frees the descriptor, after the thread that polls it has ended. Idempotent. */
  synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      posix.close(fd);
    } catch (VerbsException e) {
      LOG.warn("{}", e.getMessage());
    }
  }
}
