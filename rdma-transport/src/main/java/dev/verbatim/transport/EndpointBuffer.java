package dev.verbatim.transport;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Registered memory for the requests of a group's endpoints, and for peers as far as {@link
 * MemoryAccess} allows. Zeroed when it is new.
 *
 * <p>Thread-safe. The bytes belong to the device from the posting of a request until its
 * completion: what the program does with them meanwhile is a race, on a buffer that is closed the
 * request fails.
 */
public final class EndpointBuffer implements AutoCloseable {
  private final EndpointGroup group;
  private final MemoryRegion region;
  private final Set<MemoryAccess> access;
  private final long length;

  EndpointBuffer(EndpointGroup group, MemoryRegion region, Set<MemoryAccess> access, long length) {
    this.group = group;
    this.region = region;
    this.access = access;
    this.length = length;
  }

  /** Bytes, as asked for. */
  public long length() {
    return length;
  }

  /**
   * The memory itself.
   *
   * @throws IllegalStateException after close
   */
  public MemorySegment segment() {
    return region.segment().asSlice(0, length);
  }

  /** What peers may do. */
  public Set<MemoryAccess> access() {
    return access;
  }

  /**
   * A part for one request.
   *
   * @param bytes from 1, below 2 GiB
   * @throws IndexOutOfBoundsException when the part is not inside
   */
  public BufferSlice slice(long offset, long bytes) {
    return new BufferSlice(this, offset, bytes);
  }

  /** All of it, as {@link #slice}. */
  public BufferSlice all() {
    return slice(0, length);
  }

  /**
   * What to tell a peer that is to use it.
   *
   * @throws IllegalStateException when peers have no access
   */
  public RemoteMemory remote() {
    if (access.isEmpty()) {
      throw new IllegalStateException(
          "peers have no access to this buffer: allocate it with the MemoryAccess that they need");
    }
    return new RemoteMemory(region.iova(), region.rkey(), length);
  }

  boolean isOf(EndpointGroup other) {
    return group == other;
  }

  /** As work requests name the first byte: for memory of peers not the virtual address. */
  long deviceAddress() {
    return region.iova();
  }

  int lkey() {
    return region.lkey();
  }

  /**
   * Deregisters and frees the memory. Idempotent. Requests that still need it fail, peers' too, and
   * with them their connections.
   */
  @Override
  public void close() {
    region.close();
  }
}
