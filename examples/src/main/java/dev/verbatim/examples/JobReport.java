package dev.verbatim.examples;

import java.util.Map;

/**
 * One job in one application.
 *
 * @param seconds from handing it to Spark until all of its result was at the driver, or it failed
 * @param cpu that was used meanwhile; null if it failed
 * @param shuffle null if it failed
 * @param transfer bytes by carrier, null where the shuffle manager does not count them
 * @param fallbacks blocks that Verbatim left to TCP, by reason
 * @param rows of its result
 * @param difference to the first result that the job had in this run; null if it is equal
 * @param error why there is no result; null if there is one
 */
record JobReport(
    String job,
    double seconds,
    ClusterCpu cpu,
    ShuffleBytes shuffle,
    TransferBytes transfer,
    Map<String, Long> fallbacks,
    int rows,
    String difference,
    String error) {

  static JobReport failed(String job, double seconds, String error) {
    return new JobReport(job, seconds, null, null, null, Map.of(), 0, null, error);
  }

  boolean succeeded() {
    return error == null;
  }
}
