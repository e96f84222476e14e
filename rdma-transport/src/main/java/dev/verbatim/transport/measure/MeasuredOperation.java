package dev.verbatim.transport.measure;

import dev.verbatim.transport.MemoryAccess;

/** What is measured, and what its latency is. */
public enum MeasuredOperation {
  /** RDMA READ; latency from posting to completion, that is when the data are there. */
  READ(MemoryAccess.REMOTE_READ),
  /**
   * RDMA WRITE; latency from posting to completion, that is when the peer has acknowledged it.
   * iWARP completes what it has sent, without waiting for the peer.
   */
  WRITE(MemoryAccess.REMOTE_WRITE, MemoryAccess.REMOTE_READ),
  /**
   * SEND; latency as of WRITE. No more are on their way than the peer has receives posted, of which
   * it tells by a message for half of them.
   */
  SEND(),
  /**
   * SEND there and back by the peer's program; latency is half of the time from posting to the
   * answer, as in perftest's {@code ib_send_lat}.
   */
  PING_PONG();

  private final MemoryAccess[] access;

  MeasuredOperation(MemoryAccess... access) {
    this.access = access;
  }

  /** What the measuring side needs of the other side's memory. */
  MemoryAccess[] access() {
    return access.clone();
  }

  /** Whether the other side receives messages. */
  boolean usesReceives() {
    return this == SEND || this == PING_PONG;
  }
}
