package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsException;
import java.util.function.Consumer;
import org.slf4j.Logger;

/**
 * Tells an error of the device that stays from one that passes: what fails so often in a row, with
 * a pause after each time, is given up, once. The first failure is logged, no other. Used by one
 * thread.
 */
final class FailureStreak {
  /** With the pauses of {@link WakeUp#pauseAfterError} half a second. */
  static final int MOST = 10;

  private final Logger log;
  private final String what;
  private final Consumer<String> giveUp;
  private int failures;
  private boolean said;
  private boolean over;

  /**
   * @param what does not work when it fails, for people
   * @param giveUp told why
   */
  FailureStreak(Logger log, String what, Consumer<String> giveUp) {
    this.log = log;
    this.what = what;
    this.giveUp = giveUp;
  }

  void succeeded() {
    failures = 0;
  }

  void failed(VerbsException e) {
    failures++;
    if (!said) {
      said = true;
      log.warn("{}: {}. Said once.", what, e.getMessage());
    }
    if (failures >= MOST && !over) {
      over = true;
      giveUp.accept(failures + " times in a row: " + e.getMessage());
    }
  }

  /** Whether the last time was a failure. */
  boolean isOn() {
    return failures > 0;
  }
}
