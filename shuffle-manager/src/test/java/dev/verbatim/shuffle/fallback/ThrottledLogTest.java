package dev.verbatim.shuffle.fallback;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.shuffle.CapturedLog;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ThrottledLogTest {
  private final CapturedLog captured = new CapturedLog(ThrottledLogTest.class);
  private long now = -5;
  private final ThrottledLog log =
      new ThrottledLog(LoggerFactory.getLogger(ThrottledLogTest.class), () -> now);

  @AfterEach
  void release() {
    captured.close();
  }

  @Test
  void shouldWarnOncePerKeyAndSpanAndSayHowManyWereLeftOut() {
    for (int i = 0; i < 10; i++) {
      log.warn("1", "from 1", null);
      log.warn("2", "from 2", null);
    }
    now += ThrottledLog.SPAN_NANOS;
    log.warn("1", "from 1", null);
    now += ThrottledLog.SPAN_NANOS;
    log.warn("1", "from 1", null);

    assertEquals(
        List.of(
            "WARN from 1",
            "WARN from 2",
            "WARN from 1 (and 9 times more since the last such line)",
            "WARN from 1"),
        captured.lines());
  }

  @Test
  void shouldBoundItsLinesWhenThereAreManyKeys() {
    for (int i = 0; i < 10 * ThrottledLog.MOST_KEYS; i++) {
      log.warn("key " + i, "line", null);
    }
    assertEquals(ThrottledLog.MOST_KEYS + 1, captured.lines().size());

    now += ThrottledLog.SPAN_NANOS;
    log.warn("a new key", "line", null);
    assertEquals("WARN line", captured.lines().getLast());
  }
}
