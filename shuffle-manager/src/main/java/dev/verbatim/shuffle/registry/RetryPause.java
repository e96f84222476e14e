package dev.verbatim.shuffle.registry;

import java.time.Duration;

/** How long to wait before the driver is asked again: each time twice as long, up to a limit. */
public final class RetryPause {
  public static final Duration LONGEST = Duration.ofSeconds(30);

  private RetryPause() {}

  /** The pause after this one. */
  public static Duration after(Duration pause) {
    Duration twice = pause.multipliedBy(2);
    return twice.compareTo(LONGEST) < 0 ? twice : LONGEST;
  }
}
