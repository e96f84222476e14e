package dev.verbatim.verbs;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Named members for {@link CStruct#of}, called by their C types. */
final class CTypes {
  private CTypes() {}

  /** {@code int}, {@code uint32_t} and every enumeration. */
  static MemoryLayout i32(String name) {
    return ValueLayout.JAVA_INT.withName(name);
  }

  /** {@code uint64_t} and {@code size_t}. */
  static MemoryLayout i64(String name) {
    return ValueLayout.JAVA_LONG.withName(name);
  }

  static MemoryLayout i16(String name) {
    return ValueLayout.JAVA_SHORT.withName(name);
  }

  static MemoryLayout i8(String name) {
    return ValueLayout.JAVA_BYTE.withName(name);
  }

  static MemoryLayout be64(String name) {
    return ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN).withName(name);
  }

  static MemoryLayout be32(String name) {
    return ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN).withName(name);
  }

  static MemoryLayout be16(String name) {
    return ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN).withName(name);
  }

  static MemoryLayout pointer(String name) {
    return ValueLayout.ADDRESS.withName(name);
  }

  static MemoryLayout bytes(String name, long length) {
    return MemoryLayout.sequenceLayout(length, ValueLayout.JAVA_BYTE).withName(name);
  }

  /** An array of 64-bit words, aligned as such. */
  static MemoryLayout longs(String name, long count) {
    return MemoryLayout.sequenceLayout(count, ValueLayout.JAVA_LONG).withName(name);
  }

  static MemoryLayout struct(String name, CStruct struct) {
    return struct.layout().withName(name);
  }

  /** {@code pthread_mutex_t}, whose size depends on the processor. */
  static MemoryLayout mutex(String name) {
    return longs(name, "aarch64".equals(System.getProperty("os.arch")) ? 6 : 5);
  }

  /** {@code pthread_cond_t}. */
  static MemoryLayout condition(String name) {
    return longs(name, 6);
  }
}
