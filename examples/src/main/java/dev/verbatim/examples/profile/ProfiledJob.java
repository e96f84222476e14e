package dev.verbatim.examples.profile;

import java.time.Instant;
import java.util.List;

/**
 * When a job ran, and what CPU time its processes used meanwhile.
 *
 * @param job its name
 * @param fromMillis since 1970
 * @param toMillis since 1970
 */
record ProfiledJob(String job, long fromMillis, long toMillis, List<ProcessCpu> processes) {
  /** Whether the job was running then. */
  boolean covers(Instant time) {
    long millis = time.toEpochMilli();
    return millis >= fromMillis && millis < toMillis;
  }
}
