package dev.verbatim.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/** Page sizes of the running kernel; nothing may assume 4096. Needs no native library. */
final class Pages {
  private static final long AT_PAGESZ = 6;
  private static final long USUAL = 4096;
  private static final long SIZE = readSize();
  private static final long HUGE = readHugeSize();

  private Pages() {}

  /** Bytes. */
  static long size() {
    return SIZE;
  }

  /** Bytes of a huge page, or 0 where the kernel has none. */
  static long hugeSize() {
    return HUGE;
  }

  static long roundUp(long bytes) {
    return (bytes + SIZE - 1) / SIZE * SIZE;
  }

  private static long readSize() {
    try {
      ByteBuffer auxv =
          ByteBuffer.wrap(Files.readAllBytes(Path.of("/proc/self/auxv")))
              .order(ByteOrder.nativeOrder());
      while (auxv.remaining() >= 2 * Long.BYTES) {
        long type = auxv.getLong();
        long value = auxv.getLong();
        if (type == AT_PAGESZ) {
          return value;
        }
      }
    } catch (IOException e) {
      return USUAL;
    }
    return USUAL;
  }

  private static long readHugeSize() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
        if (line.startsWith("Hugepagesize:")) {
          return Long.parseLong(line.replaceAll("\\D", "")) << 10;
        }
      }
    } catch (IOException e) {
      return 0;
    }
    return 0;
  }
}
