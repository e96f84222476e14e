package dev.verbatim.examples.profile;

import dev.verbatim.examples.CpuTimes;
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
  /**
   * One thread.
   *
   * @param id the kernel's
   * @param name its first 15 characters
   */
  record ThreadCpu(long id, String name, double seconds) {
    /** What threads are called that differ by a number at the end alone. */
    static String withoutNumber(String name) {
      return name.replaceFirst("[-# ]*\\d+$", "");
    }
  }

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
    return CpuTimes.parse(stat).totalMillis() / 1e3;
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
