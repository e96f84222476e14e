package dev.verbatim.shuffle.reader;

import java.io.InputStream;
import java.nio.ByteBuffer;

/** Reads a byte buffer to its end. Not thread-safe. */
final class ByteBufferStream extends InputStream {
  private final ByteBuffer buffer;

  ByteBufferStream(ByteBuffer buffer) {
    this.buffer = buffer;
  }

  @Override
  public int read() {
    return buffer.hasRemaining() ? buffer.get() & 0xff : -1;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) {
    if (length == 0) {
      return 0;
    }
    if (!buffer.hasRemaining()) {
      return -1;
    }
    int count = Math.min(length, buffer.remaining());
    buffer.get(bytes, offset, count);
    return count;
  }

  @Override
  public long skip(long count) {
    int skipped = Math.clamp(count, 0, buffer.remaining());
    buffer.position(buffer.position() + skipped);
    return skipped;
  }

  @Override
  public int available() {
    return buffer.remaining();
  }
}
