package dev.verbatim.shuffle;

import dev.verbatim.shuffle.metrics.MetricsSource;
import dev.verbatim.shuffle.metrics.SourceRegistration;
import dev.verbatim.shuffle.registry.DriverRegistry;
import org.apache.spark.metrics.MetricsSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The driver's metrics, which Spark's metrics system has from the first refreshment on. */
final class DriverMetrics implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriverMetrics.class);

  private final DriverRegistry registry;
  private final MetricsSystem system;

  private MetricsSource source;
  private SourceRegistration registration;
  private boolean closed;

  DriverMetrics(DriverRegistry registry, MetricsSystem system) {
    this.registry = registry;
    this.system = system;
  }

  /**
   * To be called again and again from when the context is complete: Spark can name metrics then.
   */
  void refresh() {
    try {
      show();
    } catch (RuntimeException e) { // thrown on, it would end the repetition
      LOG.warn("The metrics of executors are not up to date", e);
    } catch (LinkageError e) {
      LOG.warn(SourceRegistration.FAILED, e);
      throw e; // it would be so each time
    }
  }

  private synchronized void show() {
    if (closed) {
      return;
    }
    if (source == null) {
      source = MetricsSource.ofDriver(registry::view);
      registration = SourceRegistration.register(system, () -> source);
    }
    source.show(registry.executors());
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (registration != null) {
      registration.close();
    }
  }
}
