package dev.verbatim.transport;

import java.lang.foreign.MemorySegment;

/**
 * Registered memory that peers may READ and do nothing else with. Its address for peers starts at a
 * random base, so that a stale or guessed {@code (iova, rkey)} pair faults at the device.
 */
public final class MemoryRegion implements AutoCloseable {

  /** Address of the first byte as peers name it; not the virtual address. */
  public long iova() {
    throw new UnsupportedOperationException();
  }

  /** Key that a peer's READ carries. */
  public int rkey() {
    throw new UnsupportedOperationException();
  }

  /** Bytes. */
  public long length() {
    throw new UnsupportedOperationException();
  }

  /**
   * The memory itself; of a mapped file it is read-only, and touching it is only safe as long as
   * the file is not truncated.
   *
   * @throws IllegalStateException after close
   */
  public MemorySegment segment() {
    throw new UnsupportedOperationException();
  }

  /** Deregisters, then unmaps or frees. Idempotent. */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
