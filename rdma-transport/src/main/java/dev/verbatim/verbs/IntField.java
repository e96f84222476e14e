package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A member of a C struct: 32 bits. Every accessor exists for a struct at the start of a segment
 * and, with an index, for a struct in an array; none of them allocates.
 *
 * @param offset of the member in its struct, bytes
 * @param stride size of the struct, bytes
 * @param layout of the member
 */
public record IntField(long offset, long stride, ValueLayout.OfInt layout) {

  public int get(MemorySegment struct) {
    return struct.get(layout, offset);
  }

  public int get(MemorySegment array, long index) {
    return array.get(layout, index * stride + offset);
  }

  public void set(MemorySegment struct, int value) {
    struct.set(layout, offset, value);
  }

  public void set(MemorySegment array, long index, int value) {
    array.set(layout, index * stride + offset, value);
  }

  /**
   * Sets the member, of native byte order, of a struct at an address that the caller knows to be a
   * living struct's. For the few stores that each READ needs: nothing is checked.
   */
  public void setAt(long address, int value) {
    NativeCall.MEMORY.set(ValueLayout.JAVA_INT, address + offset, value);
  }
}
