package dev.verbatim.shuffle.reader;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Blocks that a task was given by RDMA. Spark asks for a block again when it finds its bytes
 * corrupt; the same READ might bring the same bytes again, so they must come another way then.
 * Thread-safe.
 */
final class DeliveredBlocks {
  private final Set<Long> keys = ConcurrentHashMap.newKeySet();

  void add(ShuffleBlock block) {
    keys.add(key(block));
  }

  boolean contains(ShuffleBlock block) {
    return keys.contains(key(block));
  }

  /** A task reads one shuffle. Should two keys ever meet, a block takes TCP without need. */
  private static long key(ShuffleBlock block) {
    return block.mapId << Integer.SIZE | block.startReduce;
  }
}
