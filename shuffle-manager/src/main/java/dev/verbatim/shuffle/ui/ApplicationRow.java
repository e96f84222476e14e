package dev.verbatim.shuffle.ui;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import org.apache.spark.util.kvstore.KVIndex;

/**
 * What the tab tells of the whole application.
 *
 * @param mode whether the driver allows RDMA, and if not why
 * @param total of all executors
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ApplicationRow(String mode, ExecutorRow total) {
  static final String KEY = "application";

  /** There is one. */
  @KVIndex
  String key() {
    return KEY;
  }
}
