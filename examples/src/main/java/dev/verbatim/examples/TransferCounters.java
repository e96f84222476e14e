package dev.verbatim.examples;

import dev.verbatim.shuffle.RdmaShuffleManager;
import dev.verbatim.shuffle.metrics.ShuffleReport;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.spark.SparkEnv;

/** What Verbatim's driver knows about the transfers of the running application. */
final class TransferCounters {
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
}
