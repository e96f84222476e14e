package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsConstants;

/** What a request of an endpoint does. */
public enum WorkOperation {
  SEND(VerbsConstants.IBV_WR_SEND, VerbsConstants.IBV_WR_SEND_WITH_IMM),
  /** Into memory of the peer, which is not told unless there is immediate data. */
  WRITE(VerbsConstants.IBV_WR_RDMA_WRITE, VerbsConstants.IBV_WR_RDMA_WRITE_WITH_IMM),
  /** From memory of the peer, which is not told. */
  READ(VerbsConstants.IBV_WR_RDMA_READ, -1),
  /** On eight bytes of the peer. */
  FETCH_AND_ADD(VerbsConstants.IBV_WR_ATOMIC_FETCH_AND_ADD, -1),
  /** On eight bytes of the peer. */
  COMPARE_AND_SWAP(VerbsConstants.IBV_WR_ATOMIC_CMP_AND_SWP, -1),
  /** A receive that a message of the peer has filled, or that has failed. */
  RECEIVE(-1, -1),
  /**
   * A receive that a WRITE of the peer with immediate data has used up: its own memory is
   * untouched.
   */
  RECEIVE_OF_WRITE(-1, -1);

  private final int opcode;
  private final int opcodeWithImmediate;

  WorkOperation(int opcode, int opcodeWithImmediate) {
    this.opcode = opcode;
    this.opcodeWithImmediate = opcodeWithImmediate;
  }

  /** {@code IBV_WR_*}. */
  int opcode(boolean withImmediate) {
    return withImmediate ? opcodeWithImmediate : opcode;
  }

  /** Whether the device reads the request's own memory, so that it may travel in the request. */
  boolean sendsOwnMemory() {
    return this == SEND || this == WRITE;
  }

  boolean isAtomic() {
    return this == FETCH_AND_ADD || this == COMPARE_AND_SWAP;
  }
}
