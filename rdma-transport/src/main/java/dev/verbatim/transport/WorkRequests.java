package dev.verbatim.transport;

import dev.verbatim.verbs.IbvRecvWr;
import dev.verbatim.verbs.IbvSendWr;
import dev.verbatim.verbs.IbvSge;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Builds and posts the work requests of one queue pair, one at a time: the provider copies them, so
 * that the same memory serves for all. Its endpoint's lock guards it.
 */
final class WorkRequests {
  private final Verbs verbs;
  private final MemorySegment queuePair;
  private final int inlineBytes;
  private final MemorySegment send;
  private final MemorySegment receive;
  private final MemorySegment entries;

  /** What travels in a request: the provider must not read a buffer that is just being closed. */
  private final MemorySegment inlined;

  private final MemorySegment bad;

  /**
   * @param queuePair the {@code struct ibv_qp}
   * @param slices pieces of memory of one request
   * @param inlineBytes up to which data travel in the request
   */
  WorkRequests(Verbs verbs, MemorySegment queuePair, int slices, int inlineBytes) {
    Arena arena = Arena.ofAuto();
    this.verbs = verbs;
    this.queuePair = queuePair;
    this.inlineBytes = inlineBytes;
    this.send = IbvSendWr.STRUCT.allocate(arena);
    this.receive = IbvRecvWr.STRUCT.allocate(arena);
    this.entries = IbvSge.STRUCT.allocate(arena, slices);
    this.inlined = arena.allocate(Math.max(1, inlineBytes));
    this.bad = arena.allocate(ValueLayout.ADDRESS);
    IbvSendWr.SG_LIST.set(send, entries);
    IbvRecvWr.SG_LIST.set(receive, entries);
  }

  void postReceive(long wrId, BufferSlice[] room) throws VerbsException {
    IbvRecvWr.WR_ID.set(receive, wrId);
    IbvRecvWr.NUM_SGE.set(receive, room.length);
    fill(room);
    verbs.postRecv(queuePair, receive, bad);
  }

  void postSend(long wrId, WorkRequest request) throws VerbsException {
    WorkOperation operation = request.operation();
    boolean inline =
        operation.sendsOwnMemory() && request.length() > 0 && request.length() <= inlineBytes;
    IbvSendWr.WR_ID.set(send, wrId);
    IbvSendWr.OPCODE.set(send, operation.opcode(request.hasImmediate()));
    IbvSendWr.SEND_FLAGS.set(
        send, VerbsConstants.IBV_SEND_SIGNALED | (inline ? VerbsConstants.IBV_SEND_INLINE : 0));
    IbvSendWr.IMM_DATA.set(send, request.immediate());
    if (inline) {
      IbvSendWr.NUM_SGE.set(send, 1);
      gather(request.slices());
    } else {
      IbvSendWr.NUM_SGE.set(send, request.slices().length);
      fill(request.slices());
    }
    RemoteMemory remote = request.remote();
    if (operation.isAtomic()) {
      IbvSendWr.WR_ATOMIC_REMOTE_ADDR.set(send, remote.address());
      IbvSendWr.WR_ATOMIC_RKEY.set(send, remote.rkey());
      IbvSendWr.WR_ATOMIC_COMPARE_ADD.set(send, request.compareOrAdd());
      IbvSendWr.WR_ATOMIC_SWAP.set(send, request.swap());
    } else if (remote != null) {
      IbvSendWr.WR_RDMA_REMOTE_ADDR.set(send, remote.address());
      IbvSendWr.WR_RDMA_RKEY.set(send, remote.rkey());
    }
    verbs.postSend(queuePair, send, bad);
  }

  /**
   * For the device to read or write, which refuses the memory of a buffer that is closed by then.
   */
  private void fill(BufferSlice[] slices) {
    for (int i = 0; i < slices.length; i++) {
      BufferSlice slice = slices[i];
      slice.buffer().segment(); // tells when the buffer is closed already
      IbvSge.ADDR.set(entries, i, slice.buffer().deviceAddress() + slice.offset());
      IbvSge.LENGTH.set(entries, i, (int) slice.length());
      IbvSge.LKEY.set(entries, i, slice.buffer().lkey());
    }
  }

  private void gather(BufferSlice[] slices) {
    long bytes = 0;
    for (BufferSlice slice : slices) {
      MemorySegment.copy(slice.segment(), 0, inlined, bytes, slice.length());
      bytes += slice.length();
    }
    IbvSge.ADDR.set(entries, 0, inlined.address());
    IbvSge.LENGTH.set(entries, 0, (int) bytes);
    IbvSge.LKEY.set(entries, 0, 0); // not looked at
  }
}
