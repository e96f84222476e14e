package dev.verbatim.transport;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A slice of the pool that READs land in. It starts with one reference; the slice goes back to the
 * pool when the last one is released.
 *
 * <p>Thread-safe. After the last release every method but {@link #length} throws {@link
 * IllegalStateException}. After the transport's close the buffer may still be retained and
 * released; touching its memory throws {@link IllegalStateException}.
 */
public final class ReadBuffer {
  private final BufferPool pool;
  private final Slab slab;
  private final long offset;
  private final long size;
  private final long length;
  private final long address;
  private final int lkey;
  private final AtomicInteger references = new AtomicInteger(1);

  ReadBuffer(BufferPool pool, Slab slab, long offset, long size, long length) {
    this.pool = pool;
    this.slab = slab;
    this.offset = offset;
    this.size = size;
    this.length = length;
    this.address = slab.address() + offset;
    this.lkey = slab.lkey();
  }

  /** Bytes asked for. */
  public long length() {
    return length;
  }

  /** The memory; {@link IllegalStateException} after the last release. */
  public MemorySegment segment() {
    checkHeld();
    return slab.slice(offset, length);
  }

  /** A fresh read-only view of {@code length} bytes from {@code offset}, big-endian. */
  public ByteBuffer asByteBuffer(long offset, int length) {
    checkHeld();
    Objects.checkFromIndexSize(offset, length, this.length);
    return slab.slice(this.offset + offset, length)
        .asReadOnly()
        .asByteBuffer()
        .order(ByteOrder.BIG_ENDIAN);
  }

  /** Adds a reference; {@link IllegalStateException} when there is none left. */
  public ReadBuffer retain() {
    int held;
    do {
      held = references.get();
      if (held == 0) {
        throw released();
      }
    } while (!references.compareAndSet(held, held + 1));
    return this;
  }

  /** Drops a reference; {@link IllegalStateException} when there is none left. */
  public void release() {
    int held;
    do {
      held = references.get();
      if (held == 0) {
        throw released();
      }
    } while (!references.compareAndSet(held, held - 1));
    if (held == 1) {
      pool.giveBack(slab, offset, size);
    }
  }

  /** Virtual address of a range of this buffer. */
  long address(long from, long bytes) {
    Objects.checkFromIndexSize(from, bytes, length);
    return address + from;
  }

  int lkey() {
    return lkey;
  }

  boolean isOf(BufferPool other) {
    return pool == other;
  }

  private void checkHeld() {
    if (references.get() == 0) {
      throw released();
    }
  }

  private static IllegalStateException released() {
    return new IllegalStateException("the buffer was released already");
  }
}
