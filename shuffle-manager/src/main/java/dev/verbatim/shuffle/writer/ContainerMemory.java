package dev.verbatim.shuffle.writer;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  private static final String GROUPS = "/sys/fs/cgroup";
  private static final Pattern MACHINE =
      Pattern.compile("^MemTotal:\\s*(\\d+) kB", Pattern.MULTILINE);

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
    OptionalLong limit = limit(totalBytes(), ContainerMemory::read);
    if (limit.isEmpty()) {
      return configured;
    }
    long others = others(Runtime.getRuntime().maxMemory(), spark);
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

  /** What {@code others} leave of {@code limit}, from 0 to {@code configured}; bytes. */
  public static long room(long configured, long limit, long others) {
    return Math.clamp(limit - others, 0, configured);
  }

  /**
   * Bytes that an executor may use beside what is pinned.
   *
   * @param heap the largest that its heap may become, bytes
   */
  public static long others(long heap, SparkConf spark) {
    return heap + offHeapBytes(spark) + JVM_BYTES;
  }

  private static long offHeapBytes(SparkConf spark) {
    return spark.getBoolean("spark.memory.offHeap.enabled", false)
        ? spark.getSizeAsBytes("spark.memory.offHeap.size", "0")
        : 0;
  }

  /** Bytes of the machine, or of the container that the JVM knows itself in. */
  public static long totalBytes() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getTotalMemorySize();
  }

  /**
   * Bytes of the container that a process runs in, where it has less than the machine.
   *
   * @param totalBytes what the JVM reckons with; it asks the process's own control group alone
   * @param files answers a file's text, or nothing
   */
  public static OptionalLong limit(long totalBytes, Function<String, Optional<String>> files) {
    OptionalLong machine = machineBytes(files.apply("/proc/meminfo").orElse(""));
    long groups = groupBytes(files);
    // Without the machine's memory nobody can say whether the JVM speaks of a container.
    long least = machine.isPresent() ? Math.min(totalBytes, groups) : groups;
    return least < machine.orElse(Long.MAX_VALUE) ? OptionalLong.of(least) : OptionalLong.empty();
  }

  private static OptionalLong machineBytes(String meminfo) {
    Matcher matcher = MACHINE.matcher(meminfo);
    return matcher.find()
        ? OptionalLong.of(Long.parseLong(matcher.group(1)) << 10)
        : OptionalLong.empty();
  }

  /**
   * The least limit of the process's control groups and of those above them. In a control group
   * namespace the root is the container's own; without one the limit is at the process's path.
   */
  private static long groupBytes(Function<String, Optional<String>> files) {
    Stream<String> own = files.apply("/proc/self/cgroup").orElse("").lines();
    return Stream.concat(Stream.of("0::/", "1:memory:/"), own)
        .mapToLong(line -> groupBytes(line, files))
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /**
   * @param line number of the hierarchy, its controllers (none: version 2), and the path in it
   */
  private static long groupBytes(String line, Function<String, Optional<String>> files) {
    String[] parts = line.split(":", 3);
    boolean second = parts.length == 3 && parts[1].isEmpty();
    boolean first = parts.length == 3 && List.of(parts[1].split(",")).contains("memory");
    if (!first && !second || !parts[2].startsWith("/")) {
      return Long.MAX_VALUE;
    }
    String root = second ? GROUPS : GROUPS + "/memory";
    String file = second ? "/memory.max" : "/memory.limit_in_bytes";
    String group = parts[2].equals("/") ? "" : parts[2];
    long least = bytes(files.apply(root + group + file));
    while (!group.isEmpty()) {
      group = group.substring(0, group.lastIndexOf('/'));
      least = Math.min(least, bytes(files.apply(root + group + file)));
    }
    return least;
  }

  /** No limit is {@code max}, or a number near that of all addresses. */
  private static long bytes(Optional<String> limit) {
    return limit
        .map(String::strip)
        .filter(text -> text.matches("\\d{1,18}"))
        .map(Long::parseLong)
        .orElse(Long.MAX_VALUE);
  }

  private static Optional<String> read(String file) {
    try {
      return Optional.of(Files.readString(Path.of(file)));
    } catch (IOException | RuntimeException e) { // unusual, and no reason to do without RDMA
      LOG.debug("{} cannot be read: {}", file, e.toString());
      return Optional.empty();
    }
  }
}
