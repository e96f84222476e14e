package dev.verbatim.transport;

/**
 * A contiguous range of a batch's bytes that goes to one queue pair, and a cursor that cuts it into
 * work requests no longer than the port's maximal message. It belongs to its batch, which uses it
 * again.
 */
final class BatchPart {
  final ReadBatch batch;
  private int read;
  private long offset;
  private long left;

  // The piece that the last call of next() cut.
  private int pieceRead;
  private long pieceOffset;

  // Below: the send queue's.
  BatchPart next;
  int lastSequence;

  BatchPart(ReadBatch batch) {
    this.batch = batch;
  }

  /**
   * Starts anew.
   *
   * @param from first byte, counted over all READs of the batch in their order
   * @param bytes of the range
   */
  BatchPart of(long from, long bytes) {
    left = bytes;
    read = 0;
    long skip = from;
    while (skip >= batch.length(read)) {
      skip -= batch.length(read);
      read++;
    }
    offset = skip;
    next = null;
    return this;
  }

  boolean hasNext() {
    return left > 0;
  }

  /** Moves to the next piece and answers its length, bytes, at most {@code mostBytes}. */
  long next(long mostBytes) {
    long inRead = batch.length(read) - offset;
    long length = Math.min(Math.min(inRead, left), mostBytes);
    pieceRead = read;
    pieceOffset = offset;
    left -= length;
    if (length == inRead) {
      read++;
      offset = 0;
    } else {
      offset += length;
    }
    return length;
  }

  long iova() {
    return batch.iova(pieceRead) + pieceOffset;
  }

  int rkey() {
    return batch.rkey(pieceRead);
  }

  long address() {
    return batch.address(pieceRead) + pieceOffset;
  }

  int lkey() {
    return batch.lkey(pieceRead);
  }
}
