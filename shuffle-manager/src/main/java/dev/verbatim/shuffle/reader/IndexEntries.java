package dev.verbatim.shuffle.reader;

/**
 * The entries of a map output's index that bound a block, as a READ brings them: a peer's memory
 * may hold any bytes. Nothing is taken over that does not lie inside the map output.
 */
final class IndexEntries {
  private IndexEntries() {}

  /**
   * Tells the block its place in the data file.
   *
   * @param start the entry that says where it starts
   * @param end the one that says where it ends
   * @return false when they cannot be right; the block is left as it was
   */
  static boolean place(ShuffleBlock block, long start, long end) {
    // An empty block is never asked for; if it is, Spark's own checks must see it.
    boolean plausible = 0 <= start && start < end && end <= block.output.dataLength();
    if (plausible) {
      block.offset = start;
      block.length = end - start;
    }
    return plausible;
  }
}
