package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One block of a fetch: consecutive reduce partitions of one map output. Not thread-safe. */
final class ShuffleBlock {
  private static final Pattern NAME = Pattern.compile("shuffle_(\\d+)_(\\d+)_(\\d+)(?:_(\\d+))?");

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

  private ShuffleBlock(String id, int shuffleId, long mapId, int startReduce, int endReduce) {
    this.id = id;
    this.shuffleId = shuffleId;
    this.mapId = mapId;
    this.startReduce = startReduce;
    this.endReduce = endReduce;
  }

  /** Empty for all blocks but those of {@code ShuffleBlockId} and {@code ShuffleBlockBatchId}. */
  static Optional<ShuffleBlock> parse(String id) {
    Matcher matcher = NAME.matcher(id);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    try {
      int start = Integer.parseInt(matcher.group(3));
      int end = matcher.group(4) == null ? start + 1 : Integer.parseInt(matcher.group(4));
      if (end <= start) {
        return Optional.empty();
      }
      int shuffleId = Integer.parseInt(matcher.group(1));
      long mapId = Long.parseLong(matcher.group(2));
      return Optional.of(new ShuffleBlock(id, shuffleId, mapId, start, end));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  @Override
  public String toString() {
    return id;
  }
}
