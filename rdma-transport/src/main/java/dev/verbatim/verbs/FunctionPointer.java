package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A function pointer of {@code struct ibv_context}, read anew at each call, since contexts come and
 * go. The segment made for it is kept while the pointer stays the same, which it does as long as
 * one driver is in use; so calls do not allocate.
 */
final class FunctionPointer {
  private final long offset;

  /** Segments are immutable, so a stale one that another thread left is only a missed reuse. */
  private MemorySegment last = MemorySegment.NULL;

  FunctionPointer(PointerField field) {
    this.offset = field.offset();
  }

  MemorySegment of(long context) {
    long address = NativeCall.MEMORY.get(ValueLayout.JAVA_LONG, context + offset);
    MemorySegment function = last;
    if (function.address() != address) {
      function = MemorySegment.ofAddress(address);
      last = function;
    }
    return function;
  }
}
