package dev.verbatim.transport;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;

/**
 * One registered piece of memory that the pool cuts slices from, first fit. Not thread-safe: the
 * pool's lock guards it.
 */
final class Slab {
  private final MemorySegment memory;
  private final int lkey;
  private final Runnable closer;
  private final TreeMap<Long, Long> free = new TreeMap<>();
  private long freeBytes;

  /**
   * @param memory the slab's bytes
   * @param lkey key by which the device may write to them
   * @param closer deregisters and unmaps
   */
  Slab(MemorySegment memory, int lkey, Runnable closer) {
    this.memory = memory;
    this.lkey = lkey;
    this.closer = closer;
    free.put(0L, memory.byteSize());
    freeBytes = memory.byteSize();
  }

  /** Offset of a slice of so many bytes, or -1 when no gap is large enough. */
  long take(long bytes) {
    if (bytes > freeBytes) {
      return -1;
    }
    for (Map.Entry<Long, Long> gap : free.entrySet()) {
      long offset = gap.getKey();
      long length = gap.getValue();
      if (length >= bytes) {
        if (length > bytes) { // first: without memory for it nothing has changed
          free.put(offset + bytes, length - bytes);
        }
        free.remove(offset);
        freeBytes -= bytes;
        return offset;
      }
    }
    return -1;
  }

  /** Gives a slice back and joins it with the gaps beside it. */
  void give(long offset, long bytes) {
    long start = offset;
    long length = bytes;
    Map.Entry<Long, Long> before = free.floorEntry(offset);
    if (before != null && before.getKey() + before.getValue() == offset) {
      start = before.getKey();
      length += before.getValue();
    }
    Long after = free.remove(offset + bytes);
    if (after != null) {
      length += after;
    }
    free.put(start, length);
    freeBytes += bytes;
  }

  boolean isUnused() {
    return freeBytes == memory.byteSize();
  }

  long bytes() {
    return memory.byteSize();
  }

  MemorySegment slice(long offset, long length) {
    return memory.asSlice(offset, length);
  }

  long address() {
    return memory.address();
  }

  int lkey() {
    return lkey;
  }

  void close() {
    closer.run();
  }
}
