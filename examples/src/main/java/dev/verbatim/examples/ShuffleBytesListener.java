package dev.verbatim.examples;

import java.util.concurrent.TimeUnit;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Sums the shuffle metrics of all task attempts that end between two takes. */
final class ShuffleBytesListener extends SparkListener {
  private ShuffleBytes sum = ShuffleBytes.NONE;

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    TaskMetrics metrics = end.taskMetrics();
    if (metrics != null) {
      var read = metrics.shuffleReadMetrics();
      sum =
          sum.plus(
              new ShuffleBytes(
                  metrics.shuffleWriteMetrics().bytesWritten(),
                  read.localBytesRead(),
                  read.remoteBytesRead(),
                  read.fetchWaitTime(),
                  TimeUnit.NANOSECONDS.toMillis(metrics.shuffleWriteMetrics().writeTime()),
                  metrics.executorRunTime(),
                  0));
    }
    if (!end.taskInfo().successful()) {
      sum = sum.plus(new ShuffleBytes(0, 0, 0, 0, 0, 0, 1));
    }
  }

  /** The sum so far; the next one starts at zero. */
  synchronized ShuffleBytes take() {
    ShuffleBytes taken = sum;
    sum = ShuffleBytes.NONE;
    return taken;
  }
}
