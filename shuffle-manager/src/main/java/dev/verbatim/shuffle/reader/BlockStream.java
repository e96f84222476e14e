package dev.verbatim.shuffle.reader;

import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * Reads a view of a block to its end. Each read holds the block, so that a stream that outlives it
 * throws {@link IllegalStateException} and never reads what the pool has given to others. Not
 * thread-safe.
 */
final class BlockStream extends InputStream {
  private final ReadBlockBuffer block;
  private final ByteBuffer view;

  BlockStream(ReadBlockBuffer block, ByteBuffer view) {
    this.block = block;
    this.view = view;
  }

  @Override
  public int read() {
    block.hold();
    try {
      return view.hasRemaining() ? view.get() & 0xff : -1;
    } finally {
      block.release();
    }
  }

  @Override
  public int read(byte[] bytes, int offset, int length) {
    if (length == 0) {
      return 0;
    }
    block.hold();
    try {
      if (!view.hasRemaining()) {
        return -1;
      }
      int count = Math.min(length, view.remaining());
      view.get(bytes, offset, count);
      return count;
    } finally {
      block.release();
    }
  }

  @Override
  public long skip(long count) {
    int skipped = Math.clamp(count, 0, view.remaining());
    view.position(view.position() + skipped);
    return skipped;
  }

  @Override
  public int available() {
    return view.remaining();
  }
}
