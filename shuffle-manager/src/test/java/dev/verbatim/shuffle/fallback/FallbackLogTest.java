package dev.verbatim.shuffle.fallback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.CapturedLog;
import org.junit.jupiter.api.Test;

class FallbackLogTest {
  private final FallbackLog log = new FallbackLog();

  @Test
  void shouldSayEachReasonOfEachPeerOnce() {
    try (CapturedLog captured = new CapturedLog(FallbackLog.class)) {
      for (int i = 0; i < 3; i++) {
        log.note(FallbackReason.READ_FAILED, "1", "detail " + i);
        log.note(FallbackReason.READ_FAILED, "2", "detail " + i);
        log.note(FallbackReason.RECORD_MISSING, "1", "detail " + i);
      }

      assertEquals(3, captured.lines().size());
      assertTrue(captured.lines().getFirst().contains("detail 0"));
    }
  }

  /** As in an application of many days, whose executors come and go. */
  @Test
  void shouldSayAReasonAtLeastOnceHoweverManyLinesOthersHaveTaken() {
    try (CapturedLog captured = new CapturedLog(FallbackLog.class)) {
      for (int peer = 0; peer < 5000; peer++) {
        log.note(FallbackReason.RECORD_MISSING, String.valueOf(peer), "not published");
      }
      int lines = captured.lines().size();

      log.note(FallbackReason.READ_FAILED, "5001", "retries exceeded");
      log.note(FallbackReason.READ_FAILED, "5002", "retries exceeded");

      assertTrue(lines < 5000, "bounded");
      assertEquals(lines + 1, captured.lines().size());
      assertTrue(captured.lines().getLast().contains("READ_FAILED"), captured.lines()::getLast);
    }
  }
}
