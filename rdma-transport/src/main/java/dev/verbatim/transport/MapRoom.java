package dev.verbatim.transport;

import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Keeps this process clear of the kernel's limit of mappings, {@code vm.max_map_count}. A JVM that
 * has none left can start no thread and soon ends, so the last ones are never taken for RDMA.
 *
 * <p>Counting them means reading {@code /proc/self/maps}, so it is done once a second at most as
 * long as there is plenty of room, and about once a second when there is none. Thread-safe.
 */
final class MapRoom {
  /** What an operator does about it. */
  static final String REMEDY =
      "raise vm.max_map_count of the host (sysctl), and the limit of address space of this process"
          + " where it has one (ulimit -v)";

  private static final long COUNT_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long MOST_RESERVE = 4096;

  private final Posix posix;
  private final long limit;
  private final LongSupplier counter;
  private final LongSupplier clock;

  private long used;

  /** What may still be taken without counting again. */
  private long room;

  private boolean full;
  private long nextCountNanos;

  /**
   * @param limit mappings that the kernel allows a process, {@link Long#MAX_VALUE} where unknown
   * @param counter tells how many it has
   * @param clock nanoseconds
   */
  MapRoom(Posix posix, long limit, LongSupplier counter, LongSupplier clock) {
    this.posix = posix;
    this.limit = limit;
    this.counter = counter;
    this.clock = clock;
    nextCountNanos = clock.getAsLong();
  }

  /** The room of this very process. */
  static MapRoom ofThisProcess(Posix posix) {
    return new MapRoom(posix, readLimit(), MapRoom::countMappings, System::nanoTime);
  }

  /** To be called before memory is mapped. */
  synchronized void take() throws RegistrationException {
    if (limit == Long.MAX_VALUE) {
      return;
    }
    long now = clock.getAsLong();
    if (now - nextCountNanos >= 0 || room == 0 && !full) {
      count(now);
    }
    if (room == 0) {
      throw new RegistrationException(
          RegistrationException.Kind.MAPPING, "no mapping is left for RDMA: " + describe());
    }
    room--;
  }

  private void count(long now) {
    used = counter.getAsLong();
    long free = limit - reserve() - used;
    full = free <= 0;
    room = full ? 0 : (free + 1) / 2; // others map memory meanwhile, too
    nextCountNanos = now + COUNT_EVERY_NANOS;
  }

  private long reserve() {
    return Math.min(MOST_RESERVE, limit / 16);
  }

  /**
   * The kernel would not map a file. Java has collected garbage and waited before it said so: for a
   * second nobody need try again.
   */
  synchronized void refused() {
    count(clock.getAsLong());
    full = true;
    room = 0;
  }

  /** For messages: what this process has and may have. */
  synchronized String describe() {
    return "this process (pid "
        + ProcessHandle.current().pid()
        + ") has "
        + used
        + " mappings, vm.max_map_count is "
        + limit
        + ", RLIMIT_AS is "
        + ResourceLimit.describe(ResourceLimit.soft(posix, PosixConstants.RLIMIT_AS));
  }

  private static long readLimit() {
    // By one read: the kernel answers only the first, and Java's readString begins with one byte.
    byte[] text = new byte[64];
    try (InputStream file = Files.newInputStream(Path.of("/proc/sys/vm/max_map_count"))) {
      int length = Math.max(0, file.read(text));
      return Long.parseLong(new String(text, 0, length, StandardCharsets.US_ASCII).trim());
    } catch (IOException | NumberFormatException e) {
      return Long.MAX_VALUE;
    }
  }

  /** 0 where it cannot be told. */
  private static long countMappings() {
    long lines = 0;
    byte[] buffer = new byte[1 << 16];
    try (InputStream maps = Files.newInputStream(Path.of("/proc/self/maps"))) {
      for (int n = maps.read(buffer); n > 0; n = maps.read(buffer)) {
        for (int i = 0; i < n; i++) {
          lines += buffer[i] == '\n' ? 1 : 0;
        }
      }
    } catch (IOException e) {
      return 0;
    }
    return lines;
  }
}
