package dev.verbatim.transport;

import java.time.Duration;

/** Waits for the end of threads. */
final class Threads {
  private Threads() {}

  /** Whether it ends in time; an interrupt is kept for later. */
  static boolean join(Thread thread, Duration patience) {
    long end = System.nanoTime() + patience.toNanos();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return thread.join(Duration.ofNanos(end - System.nanoTime()));
        } catch (InterruptedException e) {
          interrupted = true; // a task that is killed must not leave everything open
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
