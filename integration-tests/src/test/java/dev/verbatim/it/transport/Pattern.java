package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/** Bytes that tell their own position, so that a READ of a wrong place cannot pass for right. */
final class Pattern {
  private Pattern() {}

  static byte at(long position) {
    long mixed = (position + 1) * 0x9E37_79B9_7F4A_7C15L;
    return (byte) (mixed >>> 56);
  }

  static void fill(MemorySegment memory) {
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, at(i));
    }
  }

  static void write(Path file, long length) throws IOException {
    byte[] chunk = new byte[1 << 16];
    try (OutputStream out = Files.newOutputStream(file)) {
      for (long position = 0; position < length; position += chunk.length) {
        int count = (int) Math.min(chunk.length, length - position);
        for (int i = 0; i < count; i++) {
          chunk[i] = at(position + i);
        }
        out.write(chunk, 0, count);
      }
    }
  }

  /**
   * @param from position in the pattern of the first byte
   */
  static void assertEqualTo(MemorySegment memory, long from) {
    for (long i = 0; i < memory.byteSize(); i++) {
      if (memory.get(ValueLayout.JAVA_BYTE, i) != at(from + i)) {
        assertEquals(at(from + i), memory.get(ValueLayout.JAVA_BYTE, i), "byte " + i);
      }
    }
  }
}
