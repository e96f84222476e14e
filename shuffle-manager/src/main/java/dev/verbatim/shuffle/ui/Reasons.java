package dev.verbatim.shuffle.ui;

import dev.verbatim.shuffle.fallback.FallbackReason;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** Counts by the names of reasons: an event log may have those of another version. */
final class Reasons {
  private Reasons() {}

  static Map<String, Long> named(Map<FallbackReason, Long> counts) {
    Map<String, Long> named = new TreeMap<>();
    counts.forEach((reason, count) -> named.put(reason.name(), count));
    return named;
  }

  /** A copy in the order of the names; null counts as empty. */
  static Map<String, Long> sorted(Map<String, Long> counts) {
    return counts == null ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(counts));
  }

  static long sum(Map<String, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  /** What the name of a reason means and what to do; empty when this version does not know it. */
  static String explained(String name) {
    for (FallbackReason reason : FallbackReason.values()) {
      if (reason.name().equals(name)) {
        return reason.meaning() + ": " + reason.remedy();
      }
    }
    return "";
  }
}
