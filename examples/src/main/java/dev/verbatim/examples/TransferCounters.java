package dev.verbatim.examples;

import dev.verbatim.shuffle.RdmaShuffleManager;
import dev.verbatim.shuffle.metrics.ShuffleReport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.SparkEnv;

/** What Verbatim's driver knows about the transfers of the running application. */
final class TransferCounters {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private TransferCounters() {}

  private static Optional<ShuffleReport> report() {
    return SparkEnv.get().shuffleManager() instanceof RdmaShuffleManager
        ? Optional.of(RdmaShuffleManager.report())
        : Optional.empty();
  }

  /** Bytes since the application started, null under a shuffle manager that counts none. */
  static TransferBytes bytes() {
    return report()
        .map(report -> new TransferBytes(report.bytesByRdma(), report.bytesByTcp()))
        .orElse(null);
  }

  /**
   * What was added since {@code earlier}, once so many bytes are accounted for; executors tell of
   * their last ones within seconds. What is missing then was read by attempts that failed.
   */
  static TransferBytes awaitSince(TransferBytes earlier, long bytes) {
    long start = System.nanoTime();
    TransferBytes added = bytes().minus(earlier);
    while (added.rdma() + added.tcp() < bytes && System.nanoTime() - start < PATIENCE.toNanos()) {
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
      added = bytes().minus(earlier);
    }
    return added;
  }

  /** What the executors say about their RDMA devices or why they use none, each text once. */
  static List<String> modes() {
    return report().stream()
        .flatMap(report -> report.executors().values().stream())
        .map(ShuffleReport.ExecutorReport::mode)
        .distinct()
        .sorted()
        .toList();
  }

  /** Blocks that were left to TCP since the application started, by reason. */
  static Map<String, Long> fallbacks() {
    Map<String, Long> byReason = new TreeMap<>();
    report()
        .ifPresent(
            report ->
                report
                    .fallbacks()
                    .forEach((reason, blocks) -> byReason.put(reason.name(), blocks)));
    return byReason;
  }

  /** The same since {@code earlier}, without reasons of which there were none. */
  static Map<String, Long> fallbacksSince(Map<String, Long> earlier) {
    Map<String, Long> added = fallbacks();
    earlier.forEach((reason, blocks) -> added.merge(reason, -blocks, Long::sum));
    added.values().removeIf(blocks -> blocks == 0);
    return added;
  }
}
