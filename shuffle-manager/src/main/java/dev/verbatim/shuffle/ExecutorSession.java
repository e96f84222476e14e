package dev.verbatim.shuffle;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.fallback.FallbackPolicy;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.fallback.Obstacle;
import dev.verbatim.shuffle.fallback.ProcessFacts;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.registry.DriverLink;
import dev.verbatim.shuffle.registry.OutputPublisher;
import dev.verbatim.shuffle.registry.RegistryEndpoint;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.RdmaTransport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.util.RpcUtils;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor's part: opens the transport or says why not, and keeps the counters in both cases.
 * Where only the driver's registry does not answer, it is asked again in the background, and RDMA
 * comes on when it does.
 */
final class ExecutorSession implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorSession.class);

  private final ShuffleCounters counters = new ShuffleCounters();
  private final ScheduledExecutorService timer = Threads.timer("publish");
  private final Thread exitHook = new Thread(this::close, "verbatim-exit");
  private boolean closed;
  private BackgroundRetry retry;
  private volatile OutputPublisher publisher;

  /** Null while RDMA is off; once set it stays. */
  private volatile ActiveRdma active;

  /** Why RDMA is off, or was. */
  private volatile Obstacle obstacle;

  private ExecutorSession() {}

  /** A session of a process without executors of its own kind around it. */
  static ExecutorSession off(Obstacle obstacle) {
    ExecutorSession session = new ExecutorSession();
    session.obstacle = obstacle;
    return session;
  }

  /**
   * Never fails: what goes wrong is why RDMA is off.
   *
   * @param invalid why the settings of this host cannot be used, or null
   */
  static ExecutorSession open(
      SparkConf spark, RdmaConf conf, RuntimeException invalid, SparkEnv env) {
    ExecutorSession session = new ExecutorSession();
    session.obstacle =
        invalid == null
            ? FallbackPolicy.forProcess(ProcessFacts.of(spark, conf)).orElse(null)
            : Obstacle.of(FallbackReason.INVALID_CONFIGURATION, invalid.getMessage());
    session.connect(spark, conf, env);
    LOG.info("{}", session.describe());
    if (session.isUnreachable()) {
      session.retry =
          BackgroundRetry.start("registry-retry", () -> session.connectAgain(spark, conf, env));
    }
    return session;
  }

  private boolean isUnreachable() {
    return active == null && obstacle.reason() == FallbackReason.REGISTRY_UNREACHABLE;
  }

  /** Tasks that run go on as they began; later ones use RDMA. */
  private boolean connectAgain(SparkConf spark, RdmaConf conf, SparkEnv env) {
    connect(spark, conf, env);
    if (isUnreachable()) {
      return false;
    }
    LOG.info("The driver's registry answers now. {}", describe());
    return true;
  }

  private void connect(SparkConf spark, RdmaConf conf, SparkEnv env) {
    boolean first = publisher == null;
    try {
      DriverLink driver =
          new DriverLink(
              RpcUtils.makeDriverRef(RegistryEndpoint.NAME, spark, env.rpcEnv()),
              env.executorId(),
              // An answer may be held back on purpose; only what comes on top is a fault.
              conf.get(RdmaConf.REGISTRY_HOLD).plus(conf.get(RdmaConf.REGISTRY_TIMEOUT)));
      if (first) {
        publisher =
            new OutputPublisher(
                driver,
                counters,
                timer,
                conf.get(RdmaConf.PUBLISH_DELAY),
                conf.get(RdmaConf.REGISTRY_HOLD),
                conf.get(RdmaConf.REPORT_INTERVAL));
      }
      if (obstacle == null || isUnreachable()) {
        openTransport(conf, env, driver);
      }
    } catch (Exception e) {
      // Scala throws checked exceptions undeclared, SparkException among them.
      if (obstacle == null) {
        refuse(FallbackReason.REGISTRY_UNREACHABLE, e.toString());
      }
    }
    // Also when the driver does not answer now: later it must know why, and take the counters.
    if (publisher != null && (first || !isUnreachable())) {
      if (active == null) {
        publisher.announce(null, "", describe());
      } else {
        publisher.announce(active.self(), active.device(), describe());
      }
    }
  }

  private void openTransport(RdmaConf conf, SparkEnv env, DriverLink driver) throws IOException {
    byte[] token = keyed(driver.hello(), env.securityManager());
    try {
      OpenResult result =
          RdmaTransport.open(
              conf.transportConfig().localName(driver.executorId()).applicationToken(token));
      switch (result) {
        case OpenResult.Unavailable unavailable -> obstacle = Obstacle.of(unavailable);
        case OpenResult.Opened opened -> activate(opened.transport(), conf, env, driver);
      }
    } catch (IllegalArgumentException e) {
      refuse(FallbackReason.INVALID_CONFIGURATION, e.getMessage());
    } catch (RuntimeException | LinkageError | OutOfMemoryError e) { // the latter: no thread
      LOG.warn("The transport could not be opened", e);
      refuse(FallbackReason.DEVICE_ERROR, e.toString());
    }
  }

  private void activate(RdmaTransport transport, RdmaConf conf, SparkEnv env, DriverLink driver) {
    ActiveRdma opened;
    try {
      opened = new ActiveRdma(transport, conf, env, driver, publisher, counters);
    } catch (RuntimeException | Error e) {
      transport.close();
      throw e;
    }
    try {
      keep(opened);
    } catch (RuntimeException | Error e) {
      opened.close();
      throw e;
    }
  }

  private synchronized void keep(ActiveRdma opened) {
    if (closed) {
      throw new IllegalStateException("the executor has ended meanwhile");
    }
    // A worker may end its executors before Spark has stopped them: peers hear of it at once.
    Runtime.getRuntime().addShutdownHook(exitHook);
    active = opened;
  }

  /** With authentication on, the application's own secret is part of what peers must prove. */
  static byte[] keyed(byte[] token, SecurityManager security) {
    if (!security.isAuthenticationEnabled()) {
      return token;
    }
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      byte[] secret = security.getSecretKey().getBytes(StandardCharsets.UTF_8);
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      return mac.doFinal(token);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HmacSHA256", e);
    }
  }

  private void refuse(FallbackReason reason, String seen) {
    obstacle = Obstacle.of(reason, seen);
  }

  ShuffleCounters counters() {
    return counters;
  }

  /** Empty when RDMA is off. */
  Optional<ActiveRdma> active() {
    return Optional.ofNullable(active);
  }

  /** Why RDMA is off. */
  FallbackReason reason() {
    return obstacle.reason();
  }

  String describe() {
    return active == null ? obstacle.describe() : active.describe();
  }

  /**
   * Tells the driver what a task that reads a shuffle has moved. Listeners run last one first: this
   * one after the fetcher's.
   */
  void reportAtEnd(TaskContext task) {
    OutputPublisher told = publisher;
    if (told != null) {
      told.readTaskBegins();
      TaskCompletionListener end = _ -> told.readTaskEnds();
      task.addTaskCompletionListener(end);
    }
  }

  void removeShuffle(int shuffleId) {
    if (active != null) {
      active.removeShuffle(shuffleId);
    }
  }

  /** Idempotent; returns when all is closed, also when another thread does it. */
  @Override
  public void close() {
    if (retry != null) {
      retry.close();
    }
    closeAll();
  }

  private synchronized void closeAll() {
    if (closed) {
      return;
    }
    closed = true;
    if (active != null) {
      active.close();
      removeExitHook();
    }
    if (publisher != null) {
      publisher.report();
    }
    timer.shutdownNow();
  }

  private void removeExitHook() {
    try {
      Runtime.getRuntime().removeShutdownHook(exitHook);
    } catch (IllegalStateException e) {
      LOG.debug("The process is ending");
    }
  }
}
