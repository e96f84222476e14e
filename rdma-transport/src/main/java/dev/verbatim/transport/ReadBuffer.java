package dev.verbatim.transport;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A slice of the pool that READs land in. It starts with one reference; the slice goes back to the
 * pool when the last one is released.
 */
public final class ReadBuffer {

  /** Bytes asked for. */
  public long length() {
    throw new UnsupportedOperationException();
  }

  /** The memory; {@link IllegalStateException} after the last release. */
  public MemorySegment segment() {
    throw new UnsupportedOperationException();
  }

  /** A fresh read-only view of {@code length} bytes from {@code offset}, big-endian. */
  public ByteBuffer asByteBuffer(long offset, int length) {
    throw new UnsupportedOperationException();
  }

  /** Adds a reference. */
  public ReadBuffer retain() {
    throw new UnsupportedOperationException();
  }

  /** Drops a reference; {@link IllegalStateException} when there is none left. */
  public void release() {
    throw new UnsupportedOperationException();
  }
}
