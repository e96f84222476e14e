package dev.verbatim.shuffle.reader;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Cuts located blocks into pieces, and gives them out in batches. One batch exists at a time: a
 * peer's index may say that its blocks are huge. Not thread-safe.
 */
final class PieceBatches {
  /** Larger blocks are put together from pieces, so that no slab has to hold a whole block. */
  static final int PIECE_BYTES = 4 << 20;

  static final long BATCH_BYTES = 8 << 20;

  /** Of tiny blocks a batch has no more, so that the first ones do not wait for very many. */
  static final int BATCH_PIECES = 1024;

  /** Bytes of a block, from a position in the data file. */
  record Piece(ShuffleBlock block, long position, int length) {}

  private final ArrayDeque<ShuffleBlock> blocks;

  /** Bytes of the first block that were given out. */
  private long done;

  PieceBatches(Collection<ShuffleBlock> blocks) {
    this.blocks = new ArrayDeque<>(blocks);
  }

  /** At most {@link #BATCH_BYTES} and {@link #BATCH_PIECES}; empty when all were given out. */
  List<Piece> next() {
    List<Piece> batch = new ArrayList<>(Math.min(BATCH_PIECES, blocks.size()));
    long bytes = 0;
    while (!blocks.isEmpty() && batch.size() < BATCH_PIECES) {
      ShuffleBlock block = blocks.peek();
      int length = (int) Math.min(PIECE_BYTES, block.length - done);
      if (bytes + length > BATCH_BYTES) {
        break;
      }
      batch.add(new Piece(block, block.offset + done, length));
      bytes += length;
      done += length;
      if (done == block.length) {
        blocks.remove();
        done = 0;
      }
    }
    return batch;
  }
}
