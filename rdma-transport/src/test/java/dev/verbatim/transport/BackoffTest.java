package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class BackoffTest {
  private final Backoff backoff = new Backoff(100);

  @Test
  void shouldLetAPeerBeTriedWhenItNeverFailed() {
    assertEquals(0, backoff.remainingNanos("a", 0));
  }

  @Test
  void shouldWaitLongerAfterEachFailureUpToEightTimes() {
    long now = -50; // nanoTime may be negative and wraps
    for (long expected : new long[] {100, 200, 400, 800, 800}) {
      backoff.failed("a", now);
      assertEquals(expected, backoff.remainingNanos("a", now));
      now += expected;
      assertEquals(0, backoff.remainingNanos("a", now));
    }
    assertEquals(0, backoff.remainingNanos("b", now));
  }

  @Test
  void shouldForgetFailuresWhenAConnectionSucceeds() {
    backoff.failed("a", 0);
    backoff.failed("a", 0);
    backoff.succeeded("a");
    backoff.failed("a", 0);
    assertEquals(100, backoff.remainingNanos("a", 0));
  }
}
