package dev.verbatim.transport;

/**
 * The requests of one queue that are posted, in their order. Its endpoint's lock guards it. Each
 * one is signalled, so that completions come one by one.
 */
final class PostedRequests {
  /** Sequence numbers have 31 bits: the 32nd of a work request's number tells the queue. */
  private static final int SEQUENCE = Integer.MAX_VALUE;

  private final int depth;
  private final int mask;
  private final long[] ids;
  private final WorkOperation[] operations;
  private int oldest;
  private int count;

  /**
   * @param depth requests that may be posted, from 1
   */
  PostedRequests(int depth) {
    this.depth = depth;
    // A power of two, so that slots stay distinct when the sequence number wraps.
    int slots = depth == 1 ? 1 : Integer.highestOneBit(depth - 1) << 1;
    this.mask = slots - 1;
    this.ids = new long[slots];
    this.operations = new WorkOperation[slots];
  }

  int depth() {
    return depth;
  }

  int count() {
    return count;
  }

  boolean isFull() {
    return count == depth;
  }

  /** Adds a request and answers its sequence number, from 0. */
  int add(long id, WorkOperation operation) {
    int sequence = oldest + count & SEQUENCE;
    ids[sequence & mask] = id;
    operations[sequence & mask] = operation;
    count++;
    return sequence;
  }

  /** Forgets the request that was added last. */
  void undoAdd() {
    count--;
  }

  /** Whether this is the oldest request, the only one that can end. */
  boolean isOldest(int sequence) {
    return count > 0 && sequence == oldest;
  }

  long oldestId() {
    return ids[oldest & mask];
  }

  WorkOperation oldestOperation() {
    return operations[oldest & mask];
  }

  void removeOldest() {
    oldest = oldest + 1 & SEQUENCE;
    count--;
  }
}
