package dev.verbatim.transport;

import dev.verbatim.verbs.IbvSendWr;
import dev.verbatim.verbs.IbvSge;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The send queue of one queue pair: knows which work requests are posted, which batches they belong
 * to and what waits for room. Building and completing a READ allocates nothing. Its connection's
 * lock guards it.
 *
 * <p>Completions of a send queue come in order, so a signalled one stands for all before it. A work
 * request's {@code wr_id} is the queue's key in the high and its sequence number in the low half.
 */
final class SendQueue {
  private final Verbs verbs;
  private final MemorySegment queuePair;
  private final int key;
  private final int depth;
  private final long mostReadBytes;
  private final int signalEvery;
  private final int mask;

  // The chain handed to the device: the provider copies it, so it is reused for every post.
  private final MemorySegment requests;
  private final MemorySegment entries;
  private final long requestsAddress;
  private final long entriesAddress;
  private final MemorySegment badRequest;

  // Parts of batches in their order, linked: ended parts are gone, then come posted ones, and from
  // `waiting` on those that are not, or not yet wholly, posted.
  private BatchPart oldest;
  private BatchPart waiting;
  private BatchPart newest;

  /** Bytes posted ever, up to and with a work request. */
  private final long[] bytesWith;

  private long bytesPosted;
  private long bytesSucceeded;
  private int nextSequence;
  private int oldestSequence;
  private int unsignalled;
  private boolean failed;

  /**
   * @param queuePair the {@code struct ibv_qp}
   * @param key of this queue in the {@link SendQueueTable}
   * @param depth work requests that may be posted, at least 1
   * @param mostReadBytes longest single READ
   */
  SendQueue(
      Verbs verbs, MemorySegment queuePair, int key, int depth, long mostReadBytes, Arena arena) {
    this.verbs = verbs;
    this.queuePair = queuePair;
    this.key = key;
    this.depth = depth;
    this.mostReadBytes = mostReadBytes;
    this.signalEvery = Math.max(1, depth / 4);
    // A power of two, so that slots stay distinct when the sequence number wraps.
    int slots = depth == 1 ? 1 : Integer.highestOneBit(depth - 1) << 1;
    this.mask = slots - 1;
    this.bytesWith = new long[slots];
    this.requests = IbvSendWr.STRUCT.allocate(arena, depth);
    this.entries = IbvSge.STRUCT.allocate(arena, depth);
    this.requestsAddress = requests.address();
    this.entriesAddress = entries.address();
    this.badRequest = arena.allocate(ValueLayout.ADDRESS);
    for (int i = 0; i < depth; i++) {
      IbvSendWr.SG_LIST.setAddress(requests, i, entriesAddress + i * IbvSge.STRUCT.size());
      IbvSendWr.NUM_SGE.set(requests, i, 1);
      IbvSendWr.OPCODE.set(requests, i, VerbsConstants.IBV_WR_RDMA_READ);
      link(i);
    }
  }

  int key() {
    return key;
  }

  private void link(int index) {
    IbvSendWr.NEXT.setAddress(
        requests, index, requestsAddress + (index + 1) * IbvSendWr.STRUCT.size());
  }

  void add(BatchPart part) {
    if (newest == null) {
      oldest = part;
    } else {
      newest.next = part;
    }
    newest = part;
    if (waiting == null) {
      waiting = part;
    }
  }

  /** Posts what waits as far as there is room, with one doorbell. */
  void post() throws VerbsException {
    int room = depth - (nextSequence - oldestSequence);
    int count = 0;
    while (count < room && waiting != null) {
      BatchPart part = waiting;
      build(count, part, count + 1 == room);
      if (!part.hasNext()) {
        part.lastSequence = nextSequence - 1;
        waiting = part.next;
      }
      count++;
    }
    if (count > 0) {
      IbvSendWr.NEXT.setAddress(requests, count - 1, 0);
      try {
        verbs.postSend(queuePair, requests, badRequest);
      } finally {
        link(count - 1);
      }
    }
  }

  private void build(int index, BatchPart part, boolean lastRoom) {
    long length = part.next(mostReadBytes);
    boolean signal = lastRoom || !part.hasNext() || unsignalled + 1 >= signalEvery;
    unsignalled = signal ? 0 : unsignalled + 1;
    long entry = entriesAddress + index * IbvSge.STRUCT.size();
    IbvSge.ADDR.setAt(entry, part.address());
    IbvSge.LENGTH.setAt(entry, (int) length);
    IbvSge.LKEY.setAt(entry, part.lkey());
    long request = requestsAddress + index * IbvSendWr.STRUCT.size();
    IbvSendWr.WR_ID.setAt(request, (long) key << 32 | nextSequence & 0xffff_ffffL);
    IbvSendWr.SEND_FLAGS.setAt(request, signal ? VerbsConstants.IBV_SEND_SIGNALED : 0);
    IbvSendWr.WR_RDMA_REMOTE_ADDR.setAt(request, part.iova());
    IbvSendWr.WR_RDMA_RKEY.setAt(request, part.rkey());

    bytesPosted += length;
    bytesWith[slot(nextSequence)] = bytesPosted;
    nextSequence++;
  }

  /** Whether this sequence number is one that is posted and has not ended. */
  boolean isPosted(int sequence) {
    return sequence - oldestSequence >= 0 && sequence - nextSequence < 0;
  }

  /** A work request has failed: the queue pair is in the error state, all later ones fail too. */
  void setFailed() {
    failed = true;
  }

  boolean hasFailed() {
    return failed;
  }

  /** The batch of the oldest posted work request. */
  ReadBatch oldestBatch() {
    return oldest.batch;
  }

  /** Takes all posted work requests up to and with this one as ended well. */
  void succeeded(int sequence, Counters counters) {
    long bytes = bytesWith[slot(sequence)];
    counters.readsSucceeded(sequence - oldestSequence + 1, bytes - bytesSucceeded);
    bytesSucceeded = bytes;
    oldestSequence = sequence + 1;
  }

  /** The batch of a part that has ended well and is not taken yet, or null. */
  ReadBatch pollSucceeded() {
    BatchPart part = oldest;
    if (part == waiting || part.lastSequence - oldestSequence >= 0) {
      return null;
    }
    oldest = part.next;
    if (oldest == null) {
      newest = null;
    }
    part.next = null;
    return part.batch;
  }

  /** Forgets everything: the queue pair is destroyed. */
  void clear() {
    oldest = null;
    waiting = null;
    newest = null;
    oldestSequence = nextSequence;
  }

  private int slot(int sequence) {
    return sequence & mask;
  }
}
