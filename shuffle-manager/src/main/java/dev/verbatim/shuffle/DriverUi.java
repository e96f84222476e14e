package dev.verbatim.shuffle;

import dev.verbatim.shuffle.ui.RdmaStatus;
import dev.verbatim.shuffle.ui.RdmaTab;
import dev.verbatim.shuffle.ui.StatusEvents;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.LiveListenerBus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tab in Spark's user interface, where there is one, and events for the history server, where
 * there is an event log. Neither is a reason to fail.
 */
final class DriverUi {
  private static final Logger LOG = LoggerFactory.getLogger(DriverUi.class);

  private final Supplier<RdmaStatus> status;

  /** Null before {@link #open} and without an event log. */
  private volatile StatusEvents events;

  DriverUi(Supplier<RdmaStatus> status) {
    this.status = status;
  }

  /** To be called once, when the context is complete. */
  void open(SparkContext context) {
    try {
      if (context.ui().isDefined()) {
        RdmaTab.attach(context.ui().get(), status);
      }
      if (context.eventLogger().isDefined()) {
        LiveListenerBus bus = context.listenerBus();
        StatusEvents opened =
            new StatusEvents(status, bus::post, context.eventLogger().get()::onOtherEvent);
        bus.addToEventLogQueue(opened);
        events = opened;
      }
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("Spark's user interface will not have the tab RDMA", e);
    }
  }

  /** To be called again and again. */
  void refresh() {
    StatusEvents opened = events;
    if (opened != null) {
      try {
        opened.tick();
      } catch (RuntimeException e) {
        LOG.warn("The event log will not have all of what the tab RDMA shows", e);
      }
    }
  }
}
