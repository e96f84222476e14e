package dev.verbatim.shuffle.ui;

import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.status.AppHistoryServerPlugin;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.ui.SparkUI;
import scala.collection.immutable.Seq;

/** Shows the tab in the history server, which finds this class by {@code META-INF/services}. */
public final class RdmaHistoryPlugin implements AppHistoryServerPlugin {

  @Override
  public Seq<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store) {
    StatusStore status = new StatusStore(store);
    return Tag.seq(
        new SparkListener() {
          @Override
          public void onOtherEvent(SparkListenerEvent event) {
            if (event instanceof SparkListenerRdmaStatus told) {
              status.take(told);
            }
          }
        });
  }

  /** Applications with another shuffle have no such tab. */
  @Override
  public void setupUI(SparkUI ui) {
    StatusStore status = new StatusStore(ui.store().store());
    if (status.isPresent()) {
      RdmaTab.attach(ui, status::read);
    }
  }
}
