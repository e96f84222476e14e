package dev.verbatim.transport;

/**
 * One request other than a receive, checked.
 *
 * @param remote memory of the peer, null for a SEND
 * @param compareOrAdd operand of an atomic operation
 * @param swap what a compare-and-swap stores
 * @param length bytes of all slices
 */
record WorkRequest(
    WorkOperation operation,
    boolean hasImmediate,
    int immediate,
    RemoteMemory remote,
    long compareOrAdd,
    long swap,
    BufferSlice[] slices,
    long length) {

  static WorkRequest send(BufferSlice[] data) {
    return new WorkRequest(WorkOperation.SEND, false, 0, null, 0, 0, data, bytes(data));
  }

  static WorkRequest send(int immediate, BufferSlice[] data) {
    return new WorkRequest(WorkOperation.SEND, true, immediate, null, 0, 0, data, bytes(data));
  }

  static WorkRequest write(RemoteMemory to, BufferSlice[] data) {
    return new WorkRequest(WorkOperation.WRITE, false, 0, to, 0, 0, data, bytes(data));
  }

  static WorkRequest write(int immediate, RemoteMemory to, BufferSlice[] data) {
    return new WorkRequest(WorkOperation.WRITE, true, immediate, to, 0, 0, data, bytes(data));
  }

  static WorkRequest read(RemoteMemory from, BufferSlice[] room) {
    return new WorkRequest(WorkOperation.READ, false, 0, from, 0, 0, room, bytes(room));
  }

  static WorkRequest fetchAndAdd(RemoteMemory word, long add, BufferSlice before) {
    return atomic(WorkOperation.FETCH_AND_ADD, word, add, 0, before);
  }

  static WorkRequest compareAndSwap(
      RemoteMemory word, long expected, long desired, BufferSlice before) {
    return atomic(WorkOperation.COMPARE_AND_SWAP, word, expected, desired, before);
  }

  private static WorkRequest atomic(
      WorkOperation operation, RemoteMemory word, long first, long second, BufferSlice before) {
    if (before.length() != Long.BYTES) {
      throw new IllegalArgumentException(
          "the slice for the value before has " + before.length() + " bytes, not 8");
    }
    if (word.address() % Long.BYTES != 0) {
      throw new IllegalArgumentException("the peer's address is not a multiple of 8");
    }
    return new WorkRequest(
        operation, false, 0, word, first, second, new BufferSlice[] {before}, Long.BYTES);
  }

  static long bytes(BufferSlice[] slices) {
    long bytes = 0;
    for (BufferSlice slice : slices) {
      bytes += slice.length();
    }
    return bytes;
  }
}
