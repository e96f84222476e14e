package dev.verbatim.shuffle.metrics;

import org.apache.spark.metrics.MetricsSystem;
import org.apache.spark.metrics.source.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A source that Spark's metrics system has until this is closed. Metrics are no reason to fail. */
public final class SourceRegistration implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SourceRegistration.class);

  private final MetricsSystem system;
  private final Source source;

  private SourceRegistration(MetricsSystem system, Source source) {
    this.system = system;
    this.source = source;
  }

  public static SourceRegistration register(MetricsSystem system, Source source) {
    try {
      system.registerSource(source);
    } catch (RuntimeException e) {
      LOG.warn("Spark's metrics will not have those of the shuffle", e);
    }
    return new SourceRegistration(system, source);
  }

  @Override
  public void close() {
    try {
      system.removeSource(source);
    } catch (RuntimeException e) {
      LOG.warn("The shuffle's metrics stay in Spark's", e);
    }
  }
}
