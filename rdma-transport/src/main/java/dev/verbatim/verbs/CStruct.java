package dev.verbatim.verbs;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A C struct or union: its name, its layout with the padding that a C compiler inserts, and typed
 * fields. Paths of nested members are written as in C, {@code "cap.max_send_wr"}.
 */
public final class CStruct {
  private final String name;
  private final String keyword;
  private final GroupLayout layout;

  private CStruct(String name, String keyword, GroupLayout layout) {
    this.name = name;
    this.keyword = keyword;
    this.layout = layout;
  }

  /** Lays out members one after the other, each at its natural alignment. */
  static CStruct of(String name, MemoryLayout... members) {
    List<MemoryLayout> padded = new ArrayList<>();
    long offset = 0;
    long alignment = 1;
    for (MemoryLayout member : members) {
      long aligned = roundUp(offset, member.byteAlignment());
      if (aligned > offset) {
        padded.add(MemoryLayout.paddingLayout(aligned - offset));
      }
      padded.add(member);
      offset = aligned + member.byteSize();
      alignment = Math.max(alignment, member.byteAlignment());
    }
    long size = roundUp(offset, alignment);
    if (size > offset) {
      padded.add(MemoryLayout.paddingLayout(size - offset));
    }
    return new CStruct(
        name,
        "struct",
        MemoryLayout.structLayout(padded.toArray(MemoryLayout[]::new)).withName(name));
  }

  /** A union, of which C's largest member must be among the given ones. */
  static CStruct union(String name, MemoryLayout... members) {
    return new CStruct(name, "union", MemoryLayout.unionLayout(members).withName(name));
  }

  private static long roundUp(long value, long alignment) {
    return (value + alignment - 1) / alignment * alignment;
  }

  /** The type's name in C, for example {@code struct ibv_wc}. */
  public String cName() {
    return keyword + " " + name;
  }

  public GroupLayout layout() {
    return layout;
  }

  /** Bytes. */
  public long size() {
    return layout.byteSize();
  }

  /** One zeroed struct. */
  public MemorySegment allocate(SegmentAllocator allocator) {
    return allocator.allocate(layout).fill((byte) 0);
  }

  /** An array of {@code count} zeroed structs. */
  public MemorySegment allocate(SegmentAllocator allocator, long count) {
    return allocator.allocate(layout, count).fill((byte) 0);
  }

  /**
   * The struct that a pointer points to. The memory is C's: the segment stays accessible after C
   * has freed it, so the caller must know that it lives.
   *
   * @throws NullPointerException for a NULL pointer
   */
  public MemorySegment at(MemorySegment pointer) {
    return at(pointer, 1);
  }

  /** The array of {@code count} structs that a pointer points to. */
  public MemorySegment at(MemorySegment pointer, long count) {
    if (pointer.address() == 0) {
      throw new NullPointerException("pointer to " + cName() + " is NULL");
    }
    return pointer.reinterpret(count * size());
  }

  /** Offset of a member, bytes. */
  public long offset(String path) {
    return layout.byteOffset(elements(path));
  }

  IntField intField(String path) {
    return new IntField(offset(path), size(), (ValueLayout.OfInt) layout.select(elements(path)));
  }

  LongField longField(String path) {
    return new LongField(offset(path), size(), (ValueLayout.OfLong) layout.select(elements(path)));
  }

  ShortField shortField(String path) {
    return new ShortField(
        offset(path), size(), (ValueLayout.OfShort) layout.select(elements(path)));
  }

  ByteField byteField(String path) {
    return new ByteField(offset(path), size(), (ValueLayout.OfByte) layout.select(elements(path)));
  }

  PointerField pointerField(String path) {
    return new PointerField(offset(path), size(), (AddressLayout) layout.select(elements(path)));
  }

  /** A member that is an array or a struct itself. */
  BlockField blockField(String path) {
    return new BlockField(offset(path), size(), layout.select(elements(path)).byteSize());
  }

  private static PathElement[] elements(String path) {
    return Arrays.stream(path.split("\\."))
        .map(PathElement::groupElement)
        .toArray(PathElement[]::new);
  }
}
