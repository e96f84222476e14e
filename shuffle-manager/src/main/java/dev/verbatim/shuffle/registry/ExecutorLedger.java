package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.metrics.ShuffleReport.ExecutorReport;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;

/**
 * How the executors are equipped and what they have moved. An application may have any number of
 * executors one after the other: of those lost long ago only the sum is kept. Not thread-safe.
 */
final class ExecutorLedger {
  /** Lost executors that are kept one by one. */
  static final int MOST_LOST = 1000;

  private final Map<String, ExecutorReport> reports = new HashMap<>();
  private final LinkedHashSet<String> lost = new LinkedHashSet<>();
  private CounterSnapshot earlier = CounterSnapshot.ZERO;
  private long earlierCount;

  /** May come more than once: what was reported meanwhile stays. */
  void announce(String executorId, String device, String mode) {
    ExecutorReport before = reports.get(executorId);
    reports.put(
        executorId,
        new ExecutorReport(
            device, mode, before == null ? CounterSnapshot.ZERO : before.counters()));
  }

  /** Whether it is among those lost last. */
  boolean isLost(String executorId) {
    return lost.contains(executorId);
  }

  /** Counters of an executor that is not here are ignored: they may be in the sum already. */
  void report(String executorId, CounterSnapshot counters) {
    reports.computeIfPresent(
        executorId, (id, before) -> new ExecutorReport(before.device(), before.mode(), counters));
  }

  void lose(String executorId) {
    if (lost.add(executorId) && lost.size() > MOST_LOST) {
      ExecutorReport eldest = reports.remove(lost.removeFirst());
      if (eldest != null) {
        earlier = earlier.plus(eldest.counters());
        earlierCount++;
      }
    }
  }

  /** A copy of all, by executor id. */
  Map<String, ExecutorReport> reports() {
    Map<String, ExecutorReport> all = new HashMap<>(reports);
    if (earlierCount > 0) {
      all.put("earlier", new ExecutorReport("", earlierCount + " executors lost earlier", earlier));
    }
    return all;
  }
}
