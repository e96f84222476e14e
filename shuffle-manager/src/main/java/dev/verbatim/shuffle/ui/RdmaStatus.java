package dev.verbatim.shuffle.ui;

import dev.verbatim.shuffle.metrics.ApplicationView;
import dev.verbatim.shuffle.metrics.ShuffleOutputs;
import java.util.List;
import java.util.Map;

/**
 * All that the tab shows, at one moment.
 *
 * @param application the whole
 * @param executors those that are here, and lost ones
 * @param shuffles those that have records, and removed ones
 */
public record RdmaStatus(
    ApplicationRow application, List<ExecutorRow> executors, List<ShuffleRow> shuffles) {

  /**
   * As the driver knows it.
   *
   * @param mode whether the driver allows RDMA, and if not why
   */
  public static RdmaStatus of(
      String mode, ApplicationView view, Map<Integer, ShuffleOutputs> shuffles) {
    return new RdmaStatus(
        new ApplicationRow(mode, ExecutorRow.total(view.total(), view.now())),
        view.executors().entrySet().stream()
            .map(e -> ExecutorRow.of(e.getKey(), view.living().contains(e.getKey()), e.getValue()))
            .toList(),
        shuffles.entrySet().stream().map(e -> ShuffleRow.of(e.getKey(), e.getValue())).toList());
  }
}
