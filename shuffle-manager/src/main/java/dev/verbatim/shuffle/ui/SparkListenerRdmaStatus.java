package dev.verbatim.shuffle.ui;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.List;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * What has changed since the event of this kind before it. Spark writes it into the event log as
 * JSON, under the name of this class; a Spark that does not find the class leaves it out.
 *
 * @param application the whole
 * @param executors those that have changed
 * @param shuffles those that have changed
 * @param forgottenExecutors ids of those that are not told of one by one any more
 * @param forgottenShuffles ids likewise
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SparkListenerRdmaStatus(
    ApplicationRow application,
    List<ExecutorRow> executors,
    List<ShuffleRow> shuffles,
    List<String> forgottenExecutors,
    List<Integer> forgottenShuffles)
    implements SparkListenerEvent {

  public SparkListenerRdmaStatus {
    executors = copy(executors);
    shuffles = copy(shuffles);
    forgottenExecutors = copy(forgottenExecutors);
    forgottenShuffles = copy(forgottenShuffles);
  }

  private static <T> List<T> copy(List<T> list) {
    return list == null ? List.of() : List.copyOf(list);
  }
}
