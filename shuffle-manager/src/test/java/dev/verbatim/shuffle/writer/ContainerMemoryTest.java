package dev.verbatim.shuffle.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class ContainerMemoryTest {
  private static final Path GROUPS = Path.of("/sys/fs/cgroup/memory");
  private static final long MIB = 1 << 20;

  @Test
  void shouldLeaveRoomForWhatElseTheExecutorUses() {
    assertEquals(600, ContainerMemory.room(1_000, 2_000, 1_400));
    assertEquals(1_000, ContainerMemory.room(1_000, 2_000, 900));
    assertEquals(0, ContainerMemory.room(1_000, 2_000, 2_500));
  }

  private static OptionalLong limit(long totalBytes, Map<String, String> files) {
    return ContainerMemory.limit(totalBytes, file -> Optional.ofNullable(files.get(file)));
  }

  @Test
  void shouldKnowAContainerByItsMemory() {
    Map<String, String> machine = Map.of("/proc/meminfo", "MemFree: 1 kB\nMemTotal:  8 kB\n");
    assertEquals(OptionalLong.of(8_191), limit(8_191, machine));
    assertEquals(OptionalLong.empty(), limit(8_192, machine));
    assertEquals(OptionalLong.empty(), limit(1, Map.of()));
    assertEquals(OptionalLong.empty(), limit(1, Map.of("/proc/meminfo", "nothing of it\n")));
  }

  /** The JVM asks the process's own group alone, and the kernel kills by those above it too. */
  @Test
  void shouldFindTheLeastLimitOnTheWayToTheRoot() {
    Map<String, String> files = new HashMap<>();
    files.put("/proc/meminfo", "MemTotal: 8 kB\n");
    files.put("/proc/self/cgroup", "0::/yarn/app/container\n");
    files.put("/sys/fs/cgroup/yarn/app/container/memory.max", "max\n");
    assertEquals(OptionalLong.empty(), limit(8_192, files));
    files.put("/sys/fs/cgroup/yarn/app/memory.max", "6000\n");
    files.put("/sys/fs/cgroup/yarn/memory.max", "7000\n");
    assertEquals(OptionalLong.of(6_000), limit(8_192, files));
    assertEquals(OptionalLong.of(5_000), limit(5_000, files));
    files.put("/sys/fs/cgroup/yarn/app/container/memory.max", "4000\n");
    assertEquals(OptionalLong.of(4_000), limit(8_192, files));
    files.put("/sys/fs/cgroup/memory.max", "3000\n");
    assertEquals(OptionalLong.of(3_000), limit(8_192, files));
    files.remove("/proc/meminfo");
    assertEquals(OptionalLong.of(3_000), limit(8_192, files));
  }

  @Test
  void shouldFindTheLimitOfTheFirstVersionsMemoryController() {
    Map<String, String> files = new HashMap<>();
    files.put("/proc/meminfo", "MemTotal: 8 kB\n");
    files.put("/proc/self/cgroup", "9:name=systemd:/a\n4:memory:/yarn/c:1\n1:cpu:/yarn\n0::/\n");
    files.put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    files.put("/sys/fs/cgroup/a/memory.max", "1\n");
    assertEquals(OptionalLong.empty(), limit(8_192, files));
    files.put("/sys/fs/cgroup/memory/yarn/c:1/memory.limit_in_bytes", "6000\n");
    assertEquals(OptionalLong.of(6_000), limit(8_192, files));
    files.put("/sys/fs/cgroup/memory/yarn/memory.limit_in_bytes", "5000\n");
    assertEquals(OptionalLong.of(5_000), limit(8_192, files));
  }

  /** Prints the budget of a process with a pool of 256 MiB that wants to register 4 GiB. */
  static final class Executor {
    public static void main(String[] arguments) {
      SparkConf spark =
          new SparkConf(false)
              .set("spark.memory.offHeap.enabled", "true")
              .set("spark.memory.offHeap.size", "100m");
      System.out.println(
          "budget "
              + ContainerMemory.budget(4096 * MIB, 256 * MIB, spark)
              + " heap "
              + Runtime.getRuntime().maxMemory());
    }
  }

  @Test
  void shouldStayWithinARealControlGroup() throws Exception {
    Assumptions.assumeTrue(Files.isWritable(GROUPS), "memory control groups that can be made");
    Path group = Files.createDirectory(GROUPS.resolve("verbatim-" + ProcessHandle.current().pid()));
    try {
      Files.writeString(group.resolve("memory.limit_in_bytes"), String.valueOf(2048 * MIB));
      Process process =
          new ProcessBuilder(
                  "/bin/sh",
                  "-c",
                  "echo $$ > $0/cgroup.procs && exec \"$@\"",
                  group.toString(),
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx512m",
                  "-cp",
                  System.getProperty("java.class.path"),
                  Executor.class.getName())
              .redirectErrorStream(true)
              .start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(process.waitFor(1, TimeUnit.MINUTES));
      String result = said.lines().filter(line -> line.startsWith("budget")).findFirst().orElse("");
      assertTrue(!result.isEmpty(), said);
      long heap = Long.parseLong(result.split(" ")[3]);
      assertEquals(
          2048 * MIB - heap - (100 + 384 + 256) * MIB, Long.parseLong(result.split(" ")[1]), said);
      assertTrue(said.contains("Map outputs may pin"), said);
    } finally {
      Files.delete(group);
    }
  }
}
