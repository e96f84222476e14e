package dev.verbatim.shuffle.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContainerMemoryTest {
  private static final Path GROUPS = Path.of("/sys/fs/cgroup/memory");
  private static final long MIB = 1 << 20;

  @TempDir private Path folder;

  @Test
  void shouldLeaveRoomForWhatElseTheExecutorUses() {
    assertEquals(600, ContainerMemory.room(1_000, 2_000, 1_400));
    assertEquals(1_000, ContainerMemory.room(1_000, 2_000, 900));
    assertEquals(0, ContainerMemory.room(1_000, 2_000, 2_500));
  }

  @Test
  void shouldKnowAContainerByItsMemory() throws IOException {
    Path meminfo = Files.writeString(folder.resolve("meminfo"), "MemFree: 1 kB\nMemTotal: 8 kB\n");
    assertEquals(OptionalLong.of(8_191), ContainerMemory.limit(8_191, meminfo));
    assertEquals(OptionalLong.empty(), ContainerMemory.limit(8_192, meminfo));
    assertEquals(OptionalLong.empty(), ContainerMemory.limit(1, folder.resolve("none")));
    Files.writeString(meminfo, "nothing of it\n");
    assertEquals(OptionalLong.empty(), ContainerMemory.limit(1, meminfo));
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
