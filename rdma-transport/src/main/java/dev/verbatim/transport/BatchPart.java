package dev.verbatim.transport;

/**
 * A contiguous range of a batch's bytes that goes to one queue pair, and a cursor that cuts it into
 * work requests no longer than the port's maximal message.
 */
final class BatchPart {
  final ReadBatch batch;
  private int read;
  private long offset;
  private long left;

  // The piece that the last call of next() cut.
  private int pieceRead;
  private long pieceOffset;

  /**
   * @param from first byte, counted over all READs of the batch in their order
   * @param bytes of the range
   */
  BatchPart(ReadBatch batch, long from, long bytes) {
    this.batch = batch;
    this.left = bytes;
    long skip = from;
    while (skip >= batch.length(read)) {
      skip -= batch.length(read);
      read++;
    }
    this.offset = skip;
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
    offset += length;
    if (offset == batch.length(read)) {
      read++;
      offset = 0;
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
