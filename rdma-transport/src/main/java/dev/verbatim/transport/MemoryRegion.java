package dev.verbatim.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Registered memory that peers may READ and do nothing else with. Its address for peers starts at a
 * random base, so that a stale or guessed {@code (iova, rkey)} pair faults at the device.
 *
 * <p>Thread-safe. Closed by {@link #close} or with its transport; after that {@link #segment}
 * throws {@link IllegalStateException}, and {@link #iova}, {@link #rkey} and {@link #length} still
 * tell what was.
 */
public final class MemoryRegion implements AutoCloseable {
  private final Registrar registrar;
  private final Registrar.Registration registration;
  private final MemorySegment memory;
  private final Arena arena;
  private volatile boolean closed;

  /**
   * @param memory the bytes that peers may read, in an own mapping
   * @param arena whose closing unmaps it
   */
  MemoryRegion(
      Registrar registrar, Registrar.Registration registration, MemorySegment memory, Arena arena) {
    this.registrar = registrar;
    this.registration = registration;
    this.memory = memory;
    this.arena = arena;
  }

  /** Address of the first byte as peers name it; not the virtual address. */
  public long iova() {
    return registration.iova();
  }

  /** Key that a peer's READ carries. */
  public int rkey() {
    return registration.rkey();
  }

  /** Key by which work requests of this process name the memory. */
  int lkey() {
    return registration.lkey();
  }

  /** Bytes. */
  public long length() {
    return memory.byteSize();
  }

  /**
   * The memory itself; of a mapped file it is read-only, and touching it is only safe as long as
   * the file is not truncated. Touching it after close throws {@link IllegalStateException}.
   *
   * @throws IllegalStateException after close
   */
  public MemorySegment segment() {
    if (closed) {
      throw new IllegalStateException("the memory region is closed");
    }
    return memory;
  }

  /** Deregisters, then unmaps or frees. Idempotent; all that call it return after that is done. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    registrar.release(registration, arena);
    registrar.forget(this); // last: the transport must not close the device before
  }
}
