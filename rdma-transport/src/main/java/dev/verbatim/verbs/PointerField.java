package dev.verbatim.verbs;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A member of a C struct: a pointer. The numeric accessors do not allocate.
 *
 * @param offset of the member in its struct, bytes
 * @param stride size of the struct, bytes
 * @param layout of the member
 */
public record PointerField(long offset, long stride, AddressLayout layout) {

  /** A segment of length zero at the pointer's address; NULL is the address zero. */
  public MemorySegment get(MemorySegment struct) {
    return struct.get(layout, offset);
  }

  public void set(MemorySegment struct, MemorySegment value) {
    struct.set(layout, offset, value);
  }

  public void set(MemorySegment array, long index, MemorySegment value) {
    array.set(layout, index * stride + offset, value);
  }

  /** The pointer as a number; zero is NULL. */
  public long getAddress(MemorySegment struct) {
    return struct.get(ValueLayout.JAVA_LONG, offset);
  }

  /** Sets the pointer to a number, which must stay a valid address for as long as C uses it. */
  public void setAddress(MemorySegment array, long index, long address) {
    array.set(ValueLayout.JAVA_LONG, index * stride + offset, address);
  }
}
