package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.transport.ReadBuffer;
import io.netty.buffer.Unpooled;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.slf4j.LoggerFactory;

/**
 * A block in the pool's memory, in one slice or several. It owns one reference to the buffer of
 * each slice, and counts its own: a block that is released too often must not take a buffer from
 * the others that share it. As with Spark's Netty buffers, streams and views are valid until the
 * last release; then a stream throws.
 */
final class ReadBlockBuffer extends ManagedBuffer {

  /** Bytes of a block: {@code length} bytes of a buffer from {@code offset}. */
  record Slice(ReadBuffer buffer, long offset, int length) {
    ByteBuffer view() {
      return buffer.asByteBuffer(offset, length);
    }
  }

  private static final ThrottledLog LOG =
      new ThrottledLog(LoggerFactory.getLogger(ReadBlockBuffer.class));

  private final List<Slice> slices;
  private final long size;
  private final AtomicInteger references = new AtomicInteger(1);
  private volatile boolean wanted;

  ReadBlockBuffer(List<Slice> slices) {
    this.slices = List.copyOf(slices);
    long bytes = 0;
    for (Slice slice : slices) {
      bytes += slice.length();
    }
    this.size = bytes;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public ByteBuffer nioByteBuffer() {
    checkHeld();
    if (slices.size() == 1) {
      return slices.getFirst().view();
    }
    ByteBuffer copy = ByteBuffer.allocate(Math.toIntExact(size));
    slices.forEach(slice -> copy.put(slice.view()));
    return copy.flip();
  }

  @Override
  public InputStream createInputStream() {
    checkHeld();
    if (slices.size() == 1) {
      return new BlockStream(this, slices.getFirst().view());
    }
    return new SequenceInputStream(
        Collections.enumeration(
            slices.stream()
                .map(slice -> (InputStream) new BlockStream(this, slice.view()))
                .toList()));
  }

  @Override
  public ManagedBuffer retain() {
    hold();
    wanted = true;
    return this;
  }

  /** Adds a reference; {@link IllegalStateException} when there is none left. */
  void hold() {
    int held;
    do {
      held = checkHeld();
    } while (!references.compareAndSet(held, held + 1));
  }

  /** References; {@link IllegalStateException} when there is none left. */
  int checkHeld() {
    int held = references.get();
    if (held == 0) {
      throw new IllegalStateException("the block was released already");
    }
    return held;
  }

  /** Whether it was ever retained: Spark does not retain a block whose task is over. */
  boolean wanted() {
    return wanted;
  }

  @Override
  public ManagedBuffer release() {
    int held;
    do {
      held = checkHeld();
    } while (!references.compareAndSet(held, held - 1));
    if (held == 1) {
      slices.forEach(slice -> release(slice.buffer()));
    }
    return this;
  }

  /** Gives up one of several references: what is thrown must not keep the others. */
  static void release(ReadBuffer buffer) {
    try {
      buffer.release();
    } catch (RuntimeException | Error e) {
      LOG.warn("release", "A buffer could not be given back", e);
    }
  }

  /** A copy, so that Netty's reference counting and the pool's do not have to know each other. */
  @Override
  public Object convertToNetty() {
    return Unpooled.copiedBuffer(nioByteBuffer());
  }

  @Override
  public Object convertToNettyForSsl() {
    return convertToNetty();
  }

  @Override
  public String toString() {
    return "ReadBlockBuffer[" + size + " bytes in " + slices.size() + " slices]";
  }
}
