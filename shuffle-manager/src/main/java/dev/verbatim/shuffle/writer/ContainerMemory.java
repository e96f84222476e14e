package dev.verbatim.shuffle.writer;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps registered map outputs within the container that the executor runs in. Pages that are
 * registered cannot be reclaimed, so the kernel kills a container that they do not fit in.
 */
public final class ContainerMemory {
  private static final Logger LOG = LoggerFactory.getLogger(ContainerMemory.class);

  /** What a JVM needs beside its heap, as Spark reckons it at least. */
  static final long JVM_BYTES = 384L << 20;

  private ContainerMemory() {}

  /**
   * Bytes that map outputs may pin.
   *
   * @param configured {@code spark.shuffle.rdma.maxRegisteredBytes}
   * @param poolBytes {@code spark.shuffle.rdma.poolBytes}
   * @return {@code configured}, or less in a container that has less room beside what else the
   *     executor may use
   */
  public static long budget(long configured, long poolBytes, SparkConf spark) {
    OptionalLong limit = limit(totalBytes(), Path.of("/proc/meminfo"));
    if (limit.isEmpty()) {
      return configured;
    }
    long others = Runtime.getRuntime().maxMemory() + offHeapBytes(spark) + JVM_BYTES;
    long budget = room(configured, limit.getAsLong(), others + poolBytes);
    if (budget < configured) {
      LOG.warn(
          "Map outputs may pin {} bytes and not the {} of spark.shuffle.rdma.maxRegisteredBytes: this"
              + " container has {}, of which the JVM may take {} and the pool {}. Others go over TCP;"
              + " raise spark.executor.memoryOverhead, or lower spark.shuffle.rdma.poolBytes",
          budget,
          configured,
          limit.getAsLong(),
          others,
          poolBytes);
    }
    return budget;
  }

  /** What {@code others} leave of {@code limit}, from 0 to {@code configured}. */
  static long room(long configured, long limit, long others) {
    return Math.clamp(limit - others, 0, configured);
  }

  private static long offHeapBytes(SparkConf spark) {
    return spark.getBoolean("spark.memory.offHeap.enabled", false)
        ? spark.getSizeAsBytes("spark.memory.offHeap.size", "0")
        : 0;
  }

  /** That of the container where there is one: the JVM looks at its control groups. */
  private static long totalBytes() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getTotalMemorySize();
  }

  /** The container's limit, if it is less than the machine's memory. */
  static OptionalLong limit(long totalBytes, Path meminfo) {
    try (Stream<String> lines = Files.lines(meminfo)) {
      long machine =
          lines
              .filter(line -> line.startsWith("MemTotal:"))
              .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10)
              .findFirst()
              .orElse(0);
      return totalBytes < machine ? OptionalLong.of(totalBytes) : OptionalLong.empty();
    } catch (IOException | RuntimeException e) { // unusual, and no reason to do without RDMA
      LOG.debug("{} cannot be read: {}", meminfo, e.toString());
      return OptionalLong.empty();
    }
  }
}
