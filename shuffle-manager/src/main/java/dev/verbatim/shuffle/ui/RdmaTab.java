package dev.verbatim.shuffle.ui;

import java.util.function.Supplier;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;

/** The tab "RDMA" beside Spark's own, at {@code /rdma/}; its numbers as JSON {@code /rdma/json}. */
public final class RdmaTab extends SparkUITab {
  static final String PREFIX = "rdma";

  private RdmaTab(SparkUI ui, Supplier<RdmaStatus> status) {
    super(ui, PREFIX);
    attachPage(new RdmaPage(this, status, id -> ui.store().executorSummary(id).hostPort()));
  }

  /** Adds the tab to a user interface. */
  public static void attach(SparkUI ui, Supplier<RdmaStatus> status) {
    ui.attachTab(new RdmaTab(ui, status));
  }

  @Override
  public String name() {
    return "RDMA";
  }
}
