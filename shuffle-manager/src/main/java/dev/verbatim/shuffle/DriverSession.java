package dev.verbatim.shuffle;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.metrics.ShuffleReport;
import dev.verbatim.shuffle.registry.DriverRegistry;
import dev.verbatim.shuffle.registry.RegistryEndpoint;
import dev.verbatim.shuffle.registry.SparkBroadcasts;
import dev.verbatim.shuffle.ui.RdmaStatus;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/** The driver's part: the registry, open to executors over Spark's RPC. */
final class DriverSession implements AutoCloseable {
  private static final long REFRESH_MILLIS = 500;

  private static final Logger LOG = LoggerFactory.getLogger(DriverSession.class);

  private final ScheduledExecutorService timer = Threads.timer("registry");
  private final DriverRegistry registry;
  private final SparkEnv env;
  private final DriverMetrics metrics;
  private final DriverUi ui;
  private final RpcEndpointRef endpoint;
  private final AtomicBoolean listening = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param mode whether RDMA is allowed, and if not why
   * @param tracker has each shuffle from before its map tasks start until it is removed, and again
   *     when Spark recomputes it, of which it does not tell shuffle managers
   */
  DriverSession(RdmaConf conf, String mode, SparkEnv env, MapOutputTrackerMaster tracker) {
    this.registry =
        new DriverRegistry(
            conf.get(RdmaConf.REGISTRY_HOLD),
            timer,
            tracker::containsShuffle,
            new SparkBroadcasts(env));
    this.env = env;
    this.endpoint = RegistryEndpoint.open(env.rpcEnv(), registry);
    this.metrics = new DriverMetrics(registry, env.metricsSystem());
    this.ui = new DriverUi(() -> RdmaStatus.of(mode, registry.view(), registry.shuffles()));
    timer.scheduleWithFixedDelay(
        this::refresh, REFRESH_MILLIS, REFRESH_MILLIS, TimeUnit.MILLISECONDS);
  }

  /**
   * Waits for the context to be complete. Until then even its configuration may have the
   * application's id, by which metrics are named, of another one that it was taken from.
   */
  private void refresh() {
    Option<SparkContext> context = SparkContext$.MODULE$.getActive();
    if (context.isDefined()) {
      listen(context.get());
      metrics.refresh();
      ui.refresh();
    }
  }

  /** Hears of lost executors, and is seen, from now on; the context must be complete. */
  void listen(SparkContext context) {
    if (listening.compareAndSet(false, true)) {
      context.addSparkListener(
          new SparkListener() {
            @Override
            public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
              registry.removeExecutor(event.executorId());
            }
          });
      ui.open(context);
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
      metrics.close();
      env.rpcEnv().stop(endpoint);
      timer.shutdownNow();
      LOG.info("{}", registry.report().describe());
    }
  }
}
