package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import java.util.Optional;

/** One block of a fetch: consecutive reduce partitions of one map output. Not thread-safe. */
final class ShuffleBlock {
  private static final String PREFIX = "shuffle_";

  final String id;
  final int shuffleId;
  final long mapId;
  final int startReduce;
  final int endReduce;

  /** Set when the registry has answered. */
  Registered output;

  /** Set when the index entries have been read: first byte and length in the data file. */
  long offset;

  long length;

  /** Whether it has been delivered, or left to TCP; guarded by its {@link RdmaFetch}. */
  boolean settled;

  private ShuffleBlock(String id, int shuffleId, long mapId, int startReduce, int endReduce) {
    this.id = id;
    this.shuffleId = shuffleId;
    this.mapId = mapId;
    this.startReduce = startReduce;
    this.endReduce = endReduce;
  }

  /** Empty for all blocks but those of {@code ShuffleBlockId} and {@code ShuffleBlockBatchId}. */
  static Optional<ShuffleBlock> parse(String id) {
    if (!id.startsWith(PREFIX)) {
      return Optional.empty();
    }
    // No pattern: it would allocate more for each block than all else that is done for it.
    int map = id.indexOf('_', PREFIX.length()) + 1;
    int reduce = map == 0 ? 0 : id.indexOf('_', map) + 1;
    if (reduce == 0) {
      return Optional.empty();
    }
    int second = id.indexOf('_', reduce) + 1;
    long shuffleId = number(id, PREFIX.length(), map - 1, Integer.MAX_VALUE);
    long mapId = number(id, map, reduce - 1, Long.MAX_VALUE);
    long start = number(id, reduce, second == 0 ? id.length() : second - 1, Integer.MAX_VALUE);
    long end = second == 0 ? start + 1 : number(id, second, id.length(), Integer.MAX_VALUE);
    if (shuffleId < 0 || mapId < 0 || start < 0 || end <= start || end > Integer.MAX_VALUE) {
      return Optional.empty();
    }
    return Optional.of(new ShuffleBlock(id, (int) shuffleId, mapId, (int) start, (int) end));
  }

  /** A number in decimal digits, at most {@code most}; -1 for anything else. */
  private static long number(String text, int from, int to, long most) {
    long value = from < to ? 0 : -1;
    for (int i = from; i < to && value >= 0; i++) {
      int digit = text.charAt(i) - '0';
      value = digit < 0 || digit > 9 || value > (most - digit) / 10 ? -1 : 10 * value + digit;
    }
    return value;
  }

  @Override
  public String toString() {
    return id;
  }
}
