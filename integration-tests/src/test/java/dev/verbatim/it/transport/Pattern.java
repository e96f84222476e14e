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
  /** Longest pattern that the tests use; made once, since an emulated guest takes its time. */
  static final int MOST = 5 << 20;

  private static final MemorySegment BYTES = MemorySegment.ofArray(make());

  private Pattern() {}

  private static byte[] make() {
    byte[] bytes = new byte[MOST];
    long state = 0x9E37_79B9_7F4A_7C15L;
    for (int i = 0; i < MOST; i++) {
      state ^= state << 13;
      state ^= state >>> 7;
      state ^= state << 17;
      bytes[i] = (byte) state;
    }
    return bytes;
  }

  static void fill(MemorySegment memory) {
    MemorySegment.copy(BYTES, 0, memory, 0, memory.byteSize());
  }

  static void write(Path file, long length) throws IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      out.write(BYTES.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
    }
  }

  /**
   * @param from position in the pattern of the first byte
   */
  static void assertEqualTo(MemorySegment memory, long from) {
    long mismatch = memory.mismatch(BYTES.asSlice(from, memory.byteSize()));
    assertEquals(-1, mismatch, () -> "first wrong byte of " + memory.byteSize());
  }
}
