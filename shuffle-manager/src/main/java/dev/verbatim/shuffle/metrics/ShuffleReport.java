package dev.verbatim.shuffle.metrics;

import dev.verbatim.shuffle.fallback.FallbackReason;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What an application's executors have moved, as far as the driver knows: exact where no task reads
 * a shuffle now, and some seconds old otherwise.
 *
 * @param total sum over all executors
 * @param executors by executor id, lost ones included
 */
public record ShuffleReport(CounterSnapshot total, Map<String, ExecutorReport> executors) {
  public static final ShuffleReport EMPTY = of(Map.of());

  /**
   * One executor.
   *
   * @param device and port; empty when RDMA is off
   * @param mode all of what it runs on, or {@code RDMA off} and the reason
   * @param counters its counters
   */
  public record ExecutorReport(String device, String mode, CounterSnapshot counters) {}

  public static ShuffleReport of(Map<String, ExecutorReport> executors) {
    CounterSnapshot total =
        executors.values().stream()
            .map(ExecutorReport::counters)
            .reduce(CounterSnapshot.ZERO, CounterSnapshot::plus);
    return new ShuffleReport(total, Map.copyOf(executors));
  }

  public long blocksByRdma() {
    return total.blocksByRdma();
  }

  /** Bytes of remote blocks that arrived by RDMA READ. */
  public long bytesByRdma() {
    return total.bytesByRdma();
  }

  public long blocksByTcp() {
    return total.blocksByTcp();
  }

  /** Bytes of remote blocks that arrived by Spark's own transfer. */
  public long bytesByTcp() {
    return total.bytesByTcp();
  }

  /** Blocks left to TCP, by reason. */
  public Map<FallbackReason, Long> fallbacks() {
    return total.fallbacks();
  }

  /** Several lines for a log. */
  public String describe() {
    String lines =
        new TreeMap<>(executors)
            .entrySet().stream()
                .map(e -> "\n  executor " + e.getKey() + ": " + line(e.getValue()))
                .collect(Collectors.joining());
    return "Shuffle of this application: " + counts(total) + lines;
  }

  private static String line(ExecutorReport report) {
    return report.mode() + "; " + counts(report.counters());
  }

  private static String counts(CounterSnapshot c) {
    return "by RDMA %d blocks, %d bytes; by TCP %d blocks, %d bytes; map outputs registered %d"
            .formatted(
                c.blocksByRdma(),
                c.bytesByRdma(),
                c.blocksByTcp(),
                c.bytesByTcp(),
                c.outputsRegistered())
        + " in %d ms (%d ms of the tasks' time), declined %d; fallbacks %s"
            .formatted(
                c.registerNanos() / 1_000_000,
                c.handOverNanos() / 1_000_000,
                c.outputsDeclined(),
                c.fallbacks());
  }
}
