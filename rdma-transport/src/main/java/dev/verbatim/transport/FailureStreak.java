package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsException;
import java.util.function.Consumer;

/**
 * Tells an error of the device that stays from one that passes: what fails so often in a row, with
 * a pause after each time, is given up, once. Used by one thread.
 */
final class FailureStreak {
  /** With the pauses of {@link WakeUp#pauseAfterError} half a second. */
  static final int MOST = 10;

  private final Consumer<String> giveUp;
  private int failures;
  private boolean over;

  /**
   * @param giveUp told why
   */
  FailureStreak(Consumer<String> giveUp) {
    this.giveUp = giveUp;
  }

  void succeeded() {
    failures = 0;
  }

  void failed(VerbsException e) {
    failures++;
    if (failures >= MOST && !over) {
      over = true;
      giveUp.accept(failures + " times in a row: " + e.getMessage());
    }
  }
}
