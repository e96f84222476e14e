package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A member of a C struct: 8 bits, read as 0 to 255. Every accessor exists for a struct at the start
 * of a segment and, with an index, for a struct in an array; none of them allocates.
 *
 * @param offset of the member in its struct, bytes
 * @param stride size of the struct, bytes
 * @param layout of the member
 */
public record ByteField(long offset, long stride, ValueLayout.OfByte layout) {

  public int get(MemorySegment struct) {
    return struct.get(layout, offset) & 0xff;
  }

  public int get(MemorySegment array, long index) {
    return array.get(layout, index * stride + offset) & 0xff;
  }

  public void set(MemorySegment struct, int value) {
    struct.set(layout, offset, (byte) value);
  }

  public void set(MemorySegment array, long index, int value) {
    array.set(layout, index * stride + offset, (byte) value);
  }
}
