package dev.verbatim.shuffle.reader;

import java.util.ArrayList;
import java.util.List;

/** Blocks that a batch has made whole, each with a reference to its data. Not thread-safe. */
final class Arrivals {
  private record Arrived(ShuffleBlock block, ReadBlockBuffer data) {}

  private final List<Arrived> blocks;

  /**
   * @param most blocks that may be added
   */
  Arrivals(int most) {
    blocks = new ArrayList<>(most);
  }

  /** What is thrown leaves the reference with the caller. */
  void add(ShuffleBlock block, ReadBlockBuffer data) {
    blocks.add(new Arrived(block, data));
  }

  /**
   * Delivers all, and takes their references over. What it throws at last is one block's, which may
   * have to be left to TCP.
   */
  void deliver(RdmaFetch fetch) {
    Throwable thrown = null;
    for (Arrived arrived : blocks) {
      try {
        fetch.deliver(arrived.block(), arrived.data());
      } catch (RuntimeException | Error e) { // the others first
        thrown = e;
      }
    }
    switch (thrown) {
      case Error e -> throw e;
      case RuntimeException e -> throw e;
      case null, default -> {}
    }
  }
}
