package dev.verbatim.shuffle;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.fallback.FallbackPolicy;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.fallback.Obstacle;
import dev.verbatim.shuffle.fallback.ProcessFacts;
import dev.verbatim.shuffle.metrics.MetricsSource;
import dev.verbatim.shuffle.metrics.ShuffleReport;
import dev.verbatim.shuffle.metrics.SourceRegistration;
import dev.verbatim.shuffle.reader.CountingReadMetrics;
import dev.verbatim.shuffle.reader.RdmaShuffleReader;
import dev.verbatim.shuffle.writer.MapOutputFiles;
import dev.verbatim.shuffle.writer.RegisteringShuffleWriter;
import java.util.Optional;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * Spark's sort shuffle, whose blocks reduce tasks fetch by one-sided RDMA READ where that can be.
 * Set {@code spark.shuffle.manager=dev.verbatim.shuffle.RdmaShuffleManager} to use it.
 */
public final class RdmaShuffleManager extends SortShuffleManager {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleManager.class);

  private static volatile ShuffleReport lastReport = ShuffleReport.EMPTY;

  private final Optional<DriverSession> driver;
  private final ExecutorSession executor;

  /** The executor's; the driver's session has its own. */
  private final Optional<SourceRegistration> metrics;

  /**
   * Called by Spark.
   *
   * @throws IllegalArgumentException on the driver when a setting is not valid, naming key, value
   *     and range
   */
  public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
    super(conf);
    if (isDriver) {
      RdmaConf rdma = RdmaConf.load(conf);
      rdma.warnings().forEach(LOG::warn);
      Optional<Obstacle> obstacle = FallbackPolicy.forProcess(ProcessFacts.of(conf, rdma));
      obstacle.map(Obstacle::reason).ifPresent(RdmaShuffleManager::warnOfVersions);
      String mode =
          obstacle
              .map(Obstacle::describe)
              .orElse("RDMA is allowed: executors use it where they have a device");
      LOG.info("{}", mode);
      lastReport = ShuffleReport.EMPTY;
      SparkEnv env = SparkEnv.get();
      driver =
          Optional.of(
              new DriverSession(rdma, mode, env, (MapOutputTrackerMaster) env.mapOutputTracker()));
      executor =
          ExecutorSession.off(
              obstacle.orElse(Obstacle.of(FallbackReason.LOCAL_MODE, "this is the driver")));
      metrics = Optional.empty();
    } else {
      driver = Optional.empty();
      executor = openExecutor(conf);
      metrics =
          Optional.of(
              SourceRegistration.register(
                  SparkEnv.get().metricsSystem(),
                  () -> MetricsSource.ofExecutor(executor.counters())));
    }
  }

  private static void warnOfVersions(FallbackReason reason) {
    if (reason == FallbackReason.SPARK_VERSION || reason == FallbackReason.JDK_TOO_OLD) {
      LOG.warn("{}: {}. All blocks go over TCP", reason.meaning(), reason.remedy());
    }
  }

  private static ExecutorSession openExecutor(SparkConf conf) {
    try {
      return ExecutorSession.open(conf, RdmaConf.load(conf), null, SparkEnv.get());
    } catch (RuntimeException e) {
      // A wrong value, or a file that is not XML.
      return ExecutorSession.open(conf, RdmaConf.defaults(), e, SparkEnv.get());
    }
  }

  /**
   * What this application's executors have moved; on the driver. After the context has stopped it
   * is the last application's.
   */
  public static ShuffleReport report() {
    SparkEnv env = SparkEnv.get();
    if (env != null
        && env.shuffleManager() instanceof RdmaShuffleManager manager
        && manager.driver.isPresent()) {
      return manager.driver.get().report();
    }
    return lastReport;
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    driver.ifPresent(session -> session.listen(dependency.rdd().context()));
    return super.registerShuffle(shuffleId, dependency);
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    ShuffleWriter<K, V> stock = super.getWriter(handle, mapId, context, metrics);
    int shuffleId = handle.shuffleId();
    boolean left = reasonOfShuffle(dependency(handle)).isPresent();
    if (left || executor.active().isEmpty()) {
      return stock;
    }
    return new RegisteringShuffleWriter<>(
        stock,
        executor.active().get().registrar(),
        executor.counters(),
        shuffleId,
        context,
        () -> files(shuffleId, mapId));
  }

  private MapOutputFiles files(int shuffleId, long mapId) {
    return new MapOutputFiles(
        shuffleId,
        mapId,
        shuffleBlockResolver().getDataFile(shuffleId, mapId).toPath(),
        shuffleBlockResolver().getIndexFile(shuffleId, mapId, Option.empty()).toPath());
  }

  @Override
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    executor.reportAtEnd(context);
    ShuffleDependency<K, Object, C> dependency = dependency(handle);
    Optional<FallbackReason> reason =
        executor.active().isEmpty() ? Optional.of(executor.reason()) : reasonOfShuffle(dependency);
    if (reason.isPresent()) {
      return super.getReader(
          handle,
          startMapIndex,
          endMapIndex,
          startPartition,
          endPartition,
          context,
          new CountingReadMetrics(metrics, executor.counters(), reason.get()));
    }
    return new RdmaShuffleReader<>(
        dependency,
        SparkEnv.get()
            .mapOutputTracker()
            .getMapSizesByExecutorId(
                handle.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition),
        context,
        metrics,
        executor.active().get().client(dependency.partitioner().numPartitions()),
        SortShuffleManager.canUseBatchFetch(startPartition, endPartition, context));
  }

  private static Optional<FallbackReason> reasonOfShuffle(ShuffleDependency<?, ?, ?> dependency) {
    return FallbackPolicy.forShuffle(
        dependency.shuffleMergeEnabled() || dependency.isShuffleMergeFinalizedMarked());
  }

  @SuppressWarnings("unchecked") // every handle of SortShuffleManager is a BaseShuffleHandle
  private static <K, C> ShuffleDependency<K, Object, C> dependency(ShuffleHandle handle) {
    return ((BaseShuffleHandle<K, Object, C>) handle).dependency();
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    executor.removeShuffle(shuffleId);
    driver.ifPresent(session -> session.removeShuffle(shuffleId));
    return super.unregisterShuffle(shuffleId);
  }

  @Override
  public void stop() {
    metrics.ifPresent(SourceRegistration::close);
    executor.close();
    driver.ifPresent(
        session -> {
          lastReport = session.report();
          session.close();
        });
    super.stop();
  }
}
