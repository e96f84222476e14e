package dev.verbatim.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * {@code struct verbs_context}, which lies around {@link IbvContext} and grows towards lower
 * addresses: what it holds is found by its distance from there.
 */
final class VerbsContext {
  /** Value of {@link IbvContext#ABI_COMPAT} where there is such a struct. */
  private static final long EXTENDED = -1;

  /** Distance of {@code sz}, the size of the whole struct in this version of the library, bytes. */
  static final long SZ_DISTANCE = 8;

  /** Distance of {@code query_port}, bytes. */
  static final long QUERY_PORT_DISTANCE = 320;

  /** The function behind {@code query_port}; like the inline C function it tells the room. */
  static final MethodHandle QUERY_PORT =
      NativeCall.bindPointerWithErrno(
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BYTE, ADDRESS, JAVA_LONG));

  private VerbsContext() {}

  /** The function pointer, NULL where this version of the library has none. */
  static MemorySegment queryPort(MemorySegment context) {
    if (IbvContext.ABI_COMPAT.getAddress(context) != EXTENDED) {
      return MemorySegment.NULL;
    }
    long size = NativeCall.MEMORY.get(JAVA_LONG, context.address() - SZ_DISTANCE);
    return size < QUERY_PORT_DISTANCE + IbvContext.STRUCT.size()
        ? MemorySegment.NULL
        : NativeCall.MEMORY.get(ADDRESS, context.address() - QUERY_PORT_DISTANCE);
  }
}
