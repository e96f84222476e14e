package dev.verbatim.transport;

import java.lang.foreign.MemorySegment;

/**
 * A part of a buffer that one request uses.
 *
 * @param buffer a buffer of the endpoint's group
 * @param offset of the first byte in the buffer
 * @param length bytes, from 1, below 2 GiB
 */
public record BufferSlice(EndpointBuffer buffer, long offset, long length) {
  public BufferSlice {
    if (length < 1 || length > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "length = " + length + " is out of range: 1 to " + Integer.MAX_VALUE);
    }
    if (offset < 0 || length > buffer.length() || offset > buffer.length() - length) {
      throw new IndexOutOfBoundsException(
          "%d bytes from %d are not inside a buffer of %d bytes"
              .formatted(length, offset, buffer.length()));
    }
  }

  /**
   * The memory itself.
   *
   * @throws IllegalStateException when the buffer is closed
   */
  public MemorySegment segment() {
    return buffer.segment().asSlice(offset, length);
  }
}
