package dev.verbatim.shuffle.reader;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Blocks that a task was given by RDMA. Spark asks for a block again when it finds its bytes
 * corrupt; the same READ might bring the same bytes again, so they must come another way then.
 * Thread-safe.
 */
final class DeliveredBlocks {
  /**
   * Odd, so that no two map outputs meet, and without order: sets hash by the exclusive or of a
   * key's halves.
   */
  private static final long SPREAD = 0x9e37_79b9_7f4a_7c15L;

  private final Set<Long> keys = ConcurrentHashMap.newKeySet();

  void add(ShuffleBlock block) {
    keys.add(key(block));
  }

  boolean contains(ShuffleBlock block) {
    return keys.contains(key(block));
  }

  /** A task reads one shuffle. Should two keys ever meet, a block takes TCP without need. */
  static long key(ShuffleBlock block) {
    return block.mapId * SPREAD + block.startReduce;
  }
}
