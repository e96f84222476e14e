package dev.verbatim.shuffle.reader;

import java.nio.ByteBuffer;

/**
 * The entries of a map output's index that bound a block, as a READ brings them: a peer's memory
 * may hold any bytes. Nothing is taken over that does not lie inside the map output.
 */
final class IndexEntries {
  /** Bytes for one block: where it starts and where it ends, big-endian. */
  static final int BYTES = 2 * Long.BYTES;

  private IndexEntries() {}

  /**
   * Reads the next entries and tells the block its place in the data file.
   *
   * @return false when they cannot be right; the block is left as it was
   */
  static boolean place(ShuffleBlock block, ByteBuffer entries) {
    long start = entries.getLong();
    long end = entries.getLong();
    // An empty block is never asked for; if it is, Spark's own checks must see it.
    boolean plausible = 0 <= start && start < end && end <= block.output.dataLength();
    if (plausible) {
      block.offset = start;
      block.length = end - start;
    }
    return plausible;
  }
}
