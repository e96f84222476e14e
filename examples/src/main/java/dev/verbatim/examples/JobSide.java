package dev.verbatim.examples;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.verbatim.examples.report.Spread;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One job under one shuffle manager, over the rounds that count.
 *
 * @param times seconds of each round
 * @param shuffle sum of the rounds
 * @param transfer sum of the rounds, null if not counted
 * @param fallbacks blocks left to TCP by reason, sum of the rounds
 */
record JobSide(
    List<Double> times, ShuffleBytes shuffle, TransferBytes transfer, Map<String, Long> fallbacks) {

  /**
   * @param rounds one or more that succeeded
   */
  static JobSide of(List<JobReport> rounds) {
    ShuffleBytes shuffle = ShuffleBytes.NONE;
    TransferBytes transfer = new TransferBytes(0, 0);
    Map<String, Long> fallbacks = new TreeMap<>();
    for (JobReport round : rounds) {
      shuffle = shuffle.plus(round.shuffle());
      transfer =
          transfer == null || round.transfer() == null ? null : transfer.plus(round.transfer());
      round.fallbacks().forEach((reason, blocks) -> fallbacks.merge(reason, blocks, Long::sum));
    }
    return new JobSide(
        rounds.stream().map(JobReport::seconds).toList(), shuffle, transfer, fallbacks);
  }

  /** How the rounds' times are spread. */
  @JsonProperty
  Spread seconds() {
    return Spread.of(times);
  }

  /** Part of the tasks' time spent writing and waiting for shuffled data, 0 to 1. */
  @JsonProperty
  double shuffleShare() {
    return shuffle.shareOfTaskTime();
  }

  /** Mean of a round, in units of 1,000,000 bytes. */
  double megabytes(long sum) {
    return sum / 1e6 / times.size();
  }
}
