package dev.verbatim.examples.profile;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * CPU time of a process and of those of its threads that have not ended, as the kernel counts it in
 * steps of 10 ms: {@code proc_pid_stat(5)}.
 *
 * @param seconds in programs and in the kernel, those of ended threads included
 */
record ProcessCpu(long pid, double seconds, List<ThreadCpu> threads) {
  private static final double SECONDS_PER_TICK = 0.01; // USER_HZ is 100 on all of Linux

  /**
   * One thread.
   *
   * @param id the kernel's
   * @param name its first 15 characters
   */
  record ThreadCpu(long id, String name, double seconds) {}

  /** All time since the process began. */
  static ProcessCpu of(long pid) throws IOException {
    Path process = Path.of("/proc", Long.toString(pid));
    List<ThreadCpu> threads = new ArrayList<>();
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(process.resolve("task"))) {
      for (Path task : tasks) {
        try {
          String stat = Files.readString(task.resolve("stat"));
          String name = stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
          long id = Long.parseLong(task.getFileName().toString());
          threads.add(new ThreadCpu(id, name, seconds(stat)));
        } catch (IOException e) {
          // The thread has ended meanwhile.
        }
      }
    }
    // Last, so that the threads' sum is no more than this.
    return new ProcessCpu(pid, seconds(Files.readString(process.resolve("stat"))), threads);
  }

  private static double seconds(String stat) {
    // The name before it may hold anything.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * SECONDS_PER_TICK;
  }

  /** What was used since an earlier look at the same process. */
  ProcessCpu since(ProcessCpu earlier) {
    Map<Long, Double> before =
        earlier.threads.stream().collect(Collectors.toMap(ThreadCpu::id, ThreadCpu::seconds));
    List<ThreadCpu> used =
        threads.stream()
            .map(
                thread ->
                    new ThreadCpu(
                        thread.id(),
                        thread.name(),
                        thread.seconds() - before.getOrDefault(thread.id(), 0.0)))
            .filter(thread -> thread.seconds() > 0)
            .toList();
    return new ProcessCpu(pid, seconds - earlier.seconds, used);
  }
}
