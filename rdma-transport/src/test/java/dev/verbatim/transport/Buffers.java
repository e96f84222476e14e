package dev.verbatim.transport;

import java.lang.foreign.Arena;

/** Pools of memory that is registered nowhere, for tests. */
final class Buffers {
  static final int LKEY = 77;

  private Buffers() {}

  static BufferPool pool(long bytes) {
    return new BufferPool(
        size -> new Slab(Arena.ofAuto().allocate(size, 64), LKEY, () -> {}), bytes, bytes);
  }
}
