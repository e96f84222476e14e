package dev.verbatim.shuffle.metrics;

import java.util.function.Supplier;
import org.apache.spark.metrics.MetricsSystem;
import org.apache.spark.metrics.source.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A source that Spark's metrics system has until this is closed. Metrics are no reason to fail. */
public final class SourceRegistration implements AutoCloseable {
  /** What a log says of an application that runs on without its metrics. */
  public static final String FAILED = "Spark's metrics will not have those of the shuffle";

  private static final Logger LOG = LoggerFactory.getLogger(SourceRegistration.class);

  private final MetricsSystem system;

  /** Null when there is none. */
  private final Source source;

  private SourceRegistration(MetricsSystem system, Source source) {
    this.system = system;
    this.source = source;
  }

  /**
   * Never fails.
   *
   * @param make may fail with a LinkageError: where the application's classes come first
   *     (spark.executor.userClassPathFirst) and bring a metrics library of their own
   */
  public static SourceRegistration register(MetricsSystem system, Supplier<Source> make) {
    try {
      Source source = make.get();
      system.registerSource(source);
      return new SourceRegistration(system, source);
    } catch (RuntimeException | LinkageError e) {
      LOG.warn(FAILED, e);
      return new SourceRegistration(system, null);
    }
  }

  @Override
  public void close() {
    if (source == null) {
      return;
    }
    try {
      system.removeSource(source);
    } catch (RuntimeException e) {
      LOG.warn("The shuffle's metrics stay in Spark's", e);
    }
  }
}
