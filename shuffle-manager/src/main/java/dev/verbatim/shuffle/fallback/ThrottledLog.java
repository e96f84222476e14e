package dev.verbatim.shuffle.fallback;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * Warns once per key and minute, however often it is called; the next line says how many were left
 * out. Thread-safe.
 */
public final class ThrottledLog {
  static final long SPAN_NANOS = Duration.ofMinutes(1).toNanos();
  static final int MOST_KEYS = 1000;

  private final Logger log;
  private final LongSupplier nanoTime;
  private final Map<String, Span> spans = new HashMap<>();

  public ThrottledLog(Logger log) {
    this(log, System::nanoTime);
  }

  ThrottledLog(Logger log, LongSupplier nanoTime) {
    this.log = log;
    this.nanoTime = nanoTime;
  }

  /**
   * Throws nothing, also when there is no memory to say it: its callers have others to look after.
   *
   * @param key what the line is about, such as a peer; with too many of them some share a line
   * @param cause logged with its stack, or null
   */
  public void warn(String key, String line, Throwable cause) {
    try {
      long leftOut = admit(key);
      if (leftOut == 0) {
        log.warn(line, cause);
      } else if (leftOut > 0) {
        log.warn(line + " (and " + leftOut + " times more since the last such line)", cause);
      }
    } catch (RuntimeException | Error e) {
      // The line is left out.
    }
  }

  /** Lines left out before this one; negative when this one is left out too. */
  private synchronized long admit(String key) {
    long now = nanoTime.getAsLong();
    if (spans.size() >= MOST_KEYS) {
      spans.values().removeIf(span -> now - span.startNanos >= SPAN_NANOS && span.leftOut == 0);
    }
    String name = spans.size() < MOST_KEYS || spans.containsKey(key) ? key : "";
    Span span = spans.get(name);
    if (span != null && now - span.startNanos < SPAN_NANOS) {
      span.leftOut++;
      return -1;
    }
    spans.put(name, new Span(now));
    return span == null ? 0 : span.leftOut;
  }

  private static final class Span {
    private final long startNanos;
    private long leftOut;

    Span(long startNanos) {
      this.startNanos = startNanos;
    }
  }
}
