package dev.verbatim.examples;

import java.io.IOException;
import java.util.List;

/** Whether all shuffle data that crossed the network did so by RDMA. */
final class RdmaOnly {
  private RdmaOnly() {}

  /**
   * Looks at each round by itself.
   *
   * @throws IOException if a byte came by TCP or is not accounted for, or none crossed at all
   */
  static void check(List<ApplicationReport> rounds) throws IOException {
    for (int i = 0; i < rounds.size(); i++) {
      ApplicationReport round = rounds.get(i);
      long crossed = 0;
      for (JobReport job : round.jobs()) {
        if (!job.succeeded()) {
          continue; // which is told elsewhere
        }
        TransferBytes transfer = job.transfer();
        if (transfer == null || transfer.tcp() > 0 || transfer.rdma() != job.shuffle().remote()) {
          throw failure(round, i, job.job() + ": " + transfer + " of " + job.shuffle().remote());
        }
        crossed += transfer.rdma();
      }
      if (crossed == 0) {
        throw failure(round, i, "no job read from another executor");
      }
    }
  }

  private static IOException failure(ApplicationReport round, int index, String what) {
    return new IOException(
        "Not by RDMA alone: %s, round %d: %s; blocks left to TCP %s; executors %s"
            .formatted(round.label(), index + 1, what, round.fallbacks(), round.modes()));
  }
}
