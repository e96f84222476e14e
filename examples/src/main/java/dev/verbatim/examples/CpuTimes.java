package dev.verbatim.examples;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * CPU that was used so far, as the kernel counts it, in steps of 10 ms.
 *
 * @param userMillis in programs
 * @param systemMillis in the kernel
 */
public record CpuTimes(long userMillis, long systemMillis) implements Serializable {
  private static final int MILLIS_PER_TICK = 10; // USER_HZ is 100 on all processors of Linux

  /** Of a process, all of its threads: proc_pid_stat(5). */
  public static CpuTimes of(long pid) throws IOException {
    return parse(Files.readString(Path.of("/proc/" + pid + "/stat")));
  }

  /**
   * Of a process or a thread.
   *
   * @param stat its line, as in proc_pid_stat(5)
   */
  public static CpuTimes parse(String stat) {
    // The name before it may hold anything.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return new CpuTimes(ticks(fields[11]), ticks(fields[12]));
  }

  /** Of all processors, interrupts and the kernel's own threads included: proc_stat(5). */
  public static CpuTimes ofMachine() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/stat"))) {
      String[] fields = lines.findFirst().orElseThrow().split(" +");
      return new CpuTimes(
          ticks(fields[1]) + ticks(fields[2]),
          ticks(fields[3]) + ticks(fields[6]) + ticks(fields[7]));
    }
  }

  private static long ticks(String field) {
    return Long.parseLong(field) * MILLIS_PER_TICK;
  }

  public CpuTimes since(CpuTimes earlier) {
    return new CpuTimes(userMillis - earlier.userMillis, systemMillis - earlier.systemMillis);
  }

  public long totalMillis() {
    return userMillis + systemMillis;
  }
}
