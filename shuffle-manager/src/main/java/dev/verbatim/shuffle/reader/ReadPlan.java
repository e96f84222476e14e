package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;

/**
 * Fills a batch with ranges of map outputs: splits a range where its regions end, and merges it
 * with the one before where both sides go on. Not thread-safe.
 */
final class ReadPlan {
  private final ReadBatch batch;
  private ReadBuffer buffer;
  private int rkey;
  private long iova;
  private long offset;
  private long length;

  ReadPlan(ReadBatch batch) {
    this.batch = batch;
  }

  /** Adds {@code length} bytes of the data file from {@code position}. */
  void add(Registered output, long position, long length, ReadBuffer into, long at) {
    long done = 0;
    while (done < length) {
      long from = position + done;
      int region = Math.toIntExact(from / output.regionLength());
      long within = from % output.regionLength();
      long count = Math.min(length - done, output.regionLength() - within);
      RemoteAddress address = output.regions().get(region);
      add(address.iova() + within, address.rkey(), into, at + done, count);
      done += count;
    }
  }

  private void add(long remote, int key, ReadBuffer into, long at, long count) {
    boolean goesOn =
        into == buffer && key == rkey && remote == iova + length && at == offset + length;
    if (goesOn) {
      length += count;
      return;
    }
    flush();
    buffer = into;
    rkey = key;
    iova = remote;
    offset = at;
    length = count;
  }

  /** The finished batch. */
  ReadBatch batch() {
    flush();
    return batch;
  }

  /** Empties a batch that was not posted. */
  void clear() {
    length = 0;
    batch.clear();
  }

  private void flush() {
    if (length > 0) {
      batch.add(iova, rkey, buffer, offset, length);
      length = 0;
    }
  }
}
