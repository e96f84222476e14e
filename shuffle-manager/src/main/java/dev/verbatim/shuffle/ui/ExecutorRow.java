package dev.verbatim.shuffle.ui;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.metrics.ShuffleReport.ExecutorReport;
import dev.verbatim.transport.LatencyCounts;
import dev.verbatim.transport.TransportCounters;
import java.util.Map;
import org.apache.spark.util.kvstore.KVIndex;

/**
 * What the tab tells of one executor, or of all of them. Event logs have it as JSON, so a name here
 * is for good.
 *
 * @param id the executor's
 * @param living whether it is here; what a lost one held is given as 0
 * @param device and port; empty when RDMA is off
 * @param mode all of what it runs on, or why RDMA is off
 * @param port {@code PORT_ACTIVE}, {@code PORT_DOWN}, {@code DEVICE_LOST}; empty when RDMA is off
 *     or the executor lost, and until its first report
 * @param registeredBytes registered for map outputs now
 * @param regions memory regions of map outputs now
 * @param bytesByRdma of remote blocks that came by RDMA READ
 * @param blocksByRdma how many
 * @param bytesByTcp of remote blocks that came by Spark's own transfer
 * @param blocksByTcp how many
 * @param fallbacks blocks left to TCP, by reason
 * @param reads READs that ended well, of index entries too
 * @param readMedianNanos half of the batches of READs took no longer; 0 when there were none
 * @param read99Nanos 99 of 100 took no longer
 * @param readMostNanos the longest
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ExecutorRow(
    String id,
    boolean living,
    String device,
    String mode,
    String port,
    long registeredBytes,
    long regions,
    long bytesByRdma,
    long blocksByRdma,
    long bytesByTcp,
    long blocksByTcp,
    Map<String, Long> fallbacks,
    long reads,
    long readMedianNanos,
    long read99Nanos,
    long readMostNanos) {

  public ExecutorRow {
    fallbacks = Reasons.sorted(fallbacks);
  }

  @Override
  @KVIndex
  public String id() {
    return id;
  }

  static ExecutorRow of(String id, boolean living, ExecutorReport report) {
    CounterSnapshot counters = report.counters();
    return of(
        id,
        living,
        report.device(),
        report.mode(),
        living && !report.device().isEmpty() ? port(counters) : "",
        counters,
        living ? counters : CounterSnapshot.ZERO);
  }

  /**
   * All executors as one.
   *
   * @param counted by all that have been
   * @param held by those that are here
   */
  static ExecutorRow total(CounterSnapshot counted, CounterSnapshot held) {
    return of("total", true, "", "", "", counted, held);
  }

  private static ExecutorRow of(
      String id,
      boolean living,
      String device,
      String mode,
      String port,
      CounterSnapshot counted,
      CounterSnapshot held) {
    LatencyCounts latency = counted.transport().readLatency();
    return new ExecutorRow(
        id,
        living,
        device,
        mode,
        port,
        held.registeredBytes(),
        held.regions(),
        counted.bytesByRdma(),
        counted.blocksByRdma(),
        counted.bytesByTcp(),
        counted.blocksByTcp(),
        Reasons.named(counted.fallbacks()),
        counted.transport().readsCompleted(),
        latency.quantileNanos(0.5),
        latency.quantileNanos(0.99),
        latency.quantileNanos(1));
  }

  private static String port(CounterSnapshot counters) {
    TransportCounters transport = counters.transport();
    if (counters.equals(CounterSnapshot.ZERO)) {
      return "";
    }
    return transport.devicesLost() > 0
        ? "DEVICE_LOST"
        : transport.portsActive() > 0 ? "PORT_ACTIVE" : "PORT_DOWN";
  }

  long fallenBack() {
    return Reasons.sum(fallbacks);
  }
}
