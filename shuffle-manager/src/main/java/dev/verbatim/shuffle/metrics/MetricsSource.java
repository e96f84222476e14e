package dev.verbatim.shuffle.metrics;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleMetric.Kind;
import dev.verbatim.transport.TransportCounters;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.spark.metrics.source.Source;

/**
 * What Spark's metrics system is told: of an executor its own numbers; of the driver the sums over
 * all executors, its registry, and the numbers of each executor that is here, since executors have
 * no page of their own where somebody could fetch them.
 */
public final class MetricsSource implements Source {
  public static final String NAME = "verbatim";

  /** Blocks left to TCP, by reason. */
  public static final String FALLBACK = "fallback.";

  /** Failures of READs, by work completion status. */
  public static final String READ_FAILURE = "readFailure.";

  /** Time of a batch of READs from posting to its end. */
  public static final String READ_LATENCY = "readLatencyNanos";

  public static final String RECORDS = "registry.records";
  public static final String WITH_RDMA = "registry.executorsWithRdma";
  public static final String WITHOUT_RDMA = "registry.executorsWithoutRdma";

  /** Before an executor's id, on the driver. */
  public static final String EXECUTOR = "executor.";

  /** Executors that the driver shows one by one; all are in the sums. */
  static final int MOST_EXECUTORS = 1000;

  private final MetricRegistry registry = new MetricRegistry();
  private final Supplier<ApplicationView> view;
  private final Set<String> shown = new HashSet<>();

  private MetricsSource(Supplier<ApplicationView> view) {
    this.view = view;
  }

  public static MetricsSource ofExecutor(ShuffleCounters counters) {
    MetricsSource source = new MetricsSource(null);
    Supplier<CounterSnapshot> recent = new Recently<>(counters::snapshot);
    source.addNumbers("", recent, recent);
    source.addFamilies(recent);
    return source;
  }

  public static MetricsSource ofDriver(Supplier<ApplicationView> view) {
    Supplier<ApplicationView> recent = new Recently<>(view);
    Supplier<CounterSnapshot> now = new Recently<>(() -> recent.get().now());
    Supplier<CounterSnapshot> total = new Recently<>(() -> recent.get().total());
    MetricsSource source = new MetricsSource(recent);
    source.addNumbers("", total, now);
    source.addFamilies(total);
    source.add(RECORDS, () -> (long) recent.get().records());
    source.add(WITH_RDMA, () -> (long) recent.get().executorsWithRdma());
    source.add(WITHOUT_RDMA, () -> (long) recent.get().executorsWithoutRdma());
    return source;
  }

  private void addNumbers(
      String prefix, Supplier<CounterSnapshot> counters, Supplier<CounterSnapshot> gauges) {
    for (ShuffleMetric metric : ShuffleMetric.values()) {
      add(
          prefix + metric.text(),
          metric.kind() == Kind.COUNTER
              ? new Growing(() -> metric.of(counters.get()))
              : () -> metric.of(gauges.get()));
    }
    registry.register(
        prefix + READ_LATENCY,
        new LatencyHistogram(() -> counters.get().transport().readLatency()));
  }

  /**
   * A counter. A block is counted before its task takes it, and taken back if the task does not; to
   * Prometheus a counter that falls has begun again from 0, and all of it would count once more.
   */
  private static final class Growing implements Gauge<Long> {
    private final LongSupplier now;
    private long most;

    Growing(LongSupplier now) {
      this.now = now;
    }

    @Override
    public synchronized Long getValue() {
      most = Math.max(most, now.getAsLong());
      return most;
    }
  }

  private void addFamilies(Supplier<CounterSnapshot> counters) {
    for (FallbackReason reason : FallbackReason.values()) {
      add(FALLBACK + reason, () -> counters.get().fallbacks().getOrDefault(reason, 0L));
    }
    for (String cause : TransportCounters.readFailureCauses()) {
      add(
          READ_FAILURE + cause,
          () -> counters.get().transport().readFailures().getOrDefault(cause, 0L));
    }
  }

  private void add(String name, Gauge<Long> value) {
    registry.register(name, value);
  }

  /**
   * Shows executors that have come, and no more those that are lost; on the driver.
   *
   * @param living ids of all that are here
   */
  public synchronized void show(Set<String> living) {
    shown.removeIf(id -> !living.contains(id) && remove(id));
    for (String id : living) {
      if (shown.size() < MOST_EXECUTORS && shown.add(id)) {
        Supplier<CounterSnapshot> counters = () -> view.get().of(id);
        addNumbers(EXECUTOR + id + ".", counters, counters);
      }
    }
  }

  private boolean remove(String id) {
    // By name: it would take seconds to look through all of them for each of many executors.
    String prefix = EXECUTOR + id + ".";
    for (ShuffleMetric metric : ShuffleMetric.values()) {
      registry.remove(prefix + metric.text());
    }
    registry.remove(prefix + READ_LATENCY);
    return true;
  }

  @Override
  public String sourceName() {
    return NAME;
  }

  @Override
  public MetricRegistry metricRegistry() {
    return registry;
  }
}
