package dev.verbatim.shuffle.metrics;

import dev.verbatim.shuffle.metrics.ShuffleReport.ExecutorReport;
import java.util.Map;
import java.util.Set;

/**
 * What the driver knows at one moment.
 *
 * @param executors by executor id, lost ones included
 * @param living ids of the executors that are here
 * @param executorsWithRdma how many of them have RDMA on
 * @param records of map outputs that the registry holds
 */
public record ApplicationView(
    Map<String, ExecutorReport> executors, Set<String> living, int executorsWithRdma, int records) {

  /** Sums of what all executors have done. */
  public CounterSnapshot total() {
    return ShuffleReport.of(executors).total();
  }

  /** Sums of what living executors have and hold now. */
  public CounterSnapshot now() {
    return living().stream().map(this::of).reduce(CounterSnapshot.ZERO, CounterSnapshot::plus);
  }

  /** Counters of an executor; all 0 when it is not known. */
  CounterSnapshot of(String executorId) {
    ExecutorReport of = executors.get(executorId);
    return of == null ? CounterSnapshot.ZERO : of.counters();
  }

  int executorsWithoutRdma() {
    return living.size() - executorsWithRdma;
  }
}
