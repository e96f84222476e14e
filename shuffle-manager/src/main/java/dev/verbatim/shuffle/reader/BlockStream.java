package dev.verbatim.shuffle.reader;

import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * Reads a view of a block to its end. Whatever takes bytes of the view holds the block, so that a
 * stream that outlives it throws {@link IllegalStateException} and never reads what the pool has
 * given to others. Not thread-safe.
 */
final class BlockStream extends InputStream {
  private static final int AHEAD_BYTES = 512;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final ReadBlockBuffer block;
  private final ByteBuffer view;

  /** What single bytes are read from: holding the block for each costs several times as much. */
  private ByteBuffer ahead = NOTHING;

  BlockStream(ReadBlockBuffer block, ByteBuffer view) {
    this.block = block;
    this.view = view;
  }

  @Override
  public int read() {
    block.checkHeld();
    if (!ahead.hasRemaining() && !readAhead()) {
      return -1;
    }
    return ahead.get() & 0xff;
  }

  private boolean readAhead() {
    if (ahead == NOTHING) {
      ahead = ByteBuffer.allocate(AHEAD_BYTES).flip();
    }
    int count = take(ahead.array(), 0, AHEAD_BYTES);
    ahead.limit(Math.max(0, count)).position(0);
    return count > 0;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) {
    if (length == 0) {
      return 0;
    }
    if (!ahead.hasRemaining()) {
      return take(bytes, offset, length);
    }
    block.checkHeld();
    int count = Math.min(length, ahead.remaining());
    ahead.get(bytes, offset, count);
    return count;
  }

  private int take(byte[] bytes, int offset, int length) {
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
    int skipped = skip(ahead, count);
    return skipped + skip(view, count - skipped);
  }

  private static int skip(ByteBuffer bytes, long count) {
    int skipped = Math.clamp(count, 0, bytes.remaining());
    bytes.position(bytes.position() + skipped);
    return skipped;
  }

  @Override
  public int available() {
    return ahead.remaining() + view.remaining();
  }
}
