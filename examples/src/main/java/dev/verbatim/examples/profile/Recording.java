package dev.verbatim.examples.profile;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * What one process has left by {@link JobProfiler#flags}.
 *
 * @param role {@code driver}, or {@code executor} and its number
 * @param samples in the order of time
 * @param lost samples that the JVM had no room, or no time, for
 */
record Recording(long pid, String role, List<Timed> samples, List<Lost> lost) {
  private static final Pattern EXECUTOR = Pattern.compile("--executor-id (\\S+)");

  /** A sample and when it was taken. */
  record Timed(Instant time, Sample sample) {}

  /** When samples were lost, and how many. */
  record Lost(Instant time, int count) {}

  static Recording read(Path file) throws IOException {
    List<Timed> samples = new ArrayList<>();
    String role = "driver";
    long pid = 0;
    List<Lost> lost = new ArrayList<>();
    try (RecordingFile recording = new RecordingFile(file)) {
      while (recording.hasMoreEvents()) {
        RecordedEvent event = recording.readEvent();
        switch (event.getEventType().getName()) {
          case "jdk.CPUTimeSample" ->
              samples.add(new Timed(event.getStartTime(), Sample.of(event)));
          case "jdk.CPUTimeSamplesLost" ->
              lost.add(new Lost(event.getStartTime(), event.getInt("lostSamples")));
          case "jdk.JVMInformation" -> {
            pid = event.getLong("pid");
            Matcher executor = EXECUTOR.matcher(event.getString("javaArguments"));
            if (executor.find()) {
              role = "executor " + executor.group(1);
            }
          }
          default -> {}
        }
      }
    }
    samples.sort((one, two) -> one.time().compareTo(two.time()));
    return new Recording(pid, role, List.copyOf(samples), List.copyOf(lost));
  }

  /** The samples of the time in which a job ran. */
  List<Sample> during(ProfiledJob job) {
    return samples.stream().filter(timed -> job.covers(timed.time())).map(Timed::sample).toList();
  }

  /** Samples that were lost in the time in which a job ran. */
  int lostDuring(ProfiledJob job) {
    return lost.stream().filter(some -> job.covers(some.time())).mapToInt(Lost::count).sum();
  }
}
