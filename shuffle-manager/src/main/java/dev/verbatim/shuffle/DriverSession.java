package dev.verbatim.shuffle;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.metrics.MetricsSource;
import dev.verbatim.shuffle.metrics.ShuffleReport;
import dev.verbatim.shuffle.metrics.SourceRegistration;
import dev.verbatim.shuffle.registry.DriverRegistry;
import dev.verbatim.shuffle.registry.RegistryEndpoint;
import dev.verbatim.shuffle.registry.SparkBroadcasts;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The driver's part: the registry, open to executors over Spark's RPC. */
final class DriverSession implements AutoCloseable {
  private static final long METRICS_MILLIS = 500;

  private static final Logger LOG = LoggerFactory.getLogger(DriverSession.class);

  private final ScheduledExecutorService timer = Threads.timer("registry");
  private final DriverRegistry registry;
  private final SparkEnv env;
  private final MetricsSource metrics;
  private final RpcEndpointRef endpoint;
  private final AtomicBoolean listening = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Null until Spark can name metrics; the timer's, and guarded by {@link #metrics}. */
  private SourceRegistration registration;

  /**
   * @param tracker has each shuffle from before its map tasks start until it is removed, and again
   *     when Spark recomputes it, of which it does not tell shuffle managers
   */
  DriverSession(RdmaConf conf, SparkEnv env, MapOutputTrackerMaster tracker) {
    this.registry =
        new DriverRegistry(
            conf.get(RdmaConf.REGISTRY_HOLD),
            timer,
            tracker::containsShuffle,
            new SparkBroadcasts(env));
    this.env = env;
    this.endpoint = RegistryEndpoint.open(env.rpcEnv(), registry);
    this.metrics = MetricsSource.ofDriver(registry::view);
    timer.scheduleWithFixedDelay(
        this::refreshMetrics, METRICS_MILLIS, METRICS_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Spark names metrics by the application's id, which it has soon after shuffle managers. */
  private void refreshMetrics() {
    synchronized (metrics) {
      if (registration == null && !closed.get() && env.conf().contains("spark.app.id")) {
        registration = SourceRegistration.register(env.metricsSystem(), metrics);
      }
    }
    try {
      metrics.show(registry.executors());
    } catch (RuntimeException e) { // thrown on, it would end the repetition
      LOG.warn("The metrics of executors are not up to date", e);
    }
  }

  /** Hears of lost executors from the first shuffle on: before, the context is not complete. */
  void listen(SparkContext context) {
    if (listening.compareAndSet(false, true)) {
      context.addSparkListener(
          new SparkListener() {
            @Override
            public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
              registry.removeExecutor(event.executorId());
            }
          });
    }
  }

  void removeShuffle(int shuffleId) {
    registry.removeShuffle(shuffleId);
  }

  ShuffleReport report() {
    return registry.report();
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      synchronized (metrics) {
        if (registration != null) {
          registration.close();
        }
      }
      env.rpcEnv().stop(endpoint);
      timer.shutdownNow();
      LOG.info("{}", registry.report().describe());
    }
  }
}
