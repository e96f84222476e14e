package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * A member of a C struct that is an array of bytes or a struct itself.
 *
 * @param offset of the member in its struct, bytes
 * @param stride size of the struct, bytes
 * @param length of the member, bytes
 */
public record BlockField(long offset, long stride, long length) {

  /** The member's memory in place. */
  public MemorySegment get(MemorySegment struct) {
    return struct.asSlice(offset, length);
  }

  public MemorySegment get(MemorySegment array, long index) {
    return array.asSlice(index * stride + offset, length);
  }

  /** A copy of the member's bytes. */
  public byte[] bytes(MemorySegment array, long index) {
    return get(array, index).toArray(ValueLayout.JAVA_BYTE);
  }

  /** The text up to the first NUL byte, or up to the end where there is none. */
  public String text(MemorySegment struct) {
    byte[] bytes = bytes(struct, 0);
    int end = 0;
    while (end < bytes.length && bytes[end] != 0) {
      end++;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8);
  }
}
