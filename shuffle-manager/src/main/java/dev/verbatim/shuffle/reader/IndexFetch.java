package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * READs index entries of located blocks in one batch: the whole index of a map output where it can
 * be kept for later tasks, or else the two entries that bound a block.
 */
final class IndexFetch {
  /** Of whole indexes in one batch: a request may have blocks of very many map outputs. */
  static final int MOST_WHOLE_BYTES = 2 << 20;

  /** A whole index, and where in the buffer it goes. */
  private record Whole(ShuffleBlock block, int at) {}

  private final RdmaFetch fetch;
  private final FetchAttempt attempt;
  private final FetchContext context;
  private final PeerConnection connection;
  private final List<ShuffleBlock> blocks;
  private final List<Whole> wholes = new ArrayList<>();

  /** Where in the buffer the entries of each block go that say where it starts and ends. */
  private final int[] starts;

  private final int[] ends;

  /** Bytes of the buffer. */
  private int bytes;

  IndexFetch(FetchAttempt attempt, PeerConnection connection, List<ShuffleBlock> blocks) {
    this.fetch = attempt.fetch();
    this.attempt = attempt;
    this.context = attempt.context();
    this.connection = connection;
    this.blocks = blocks;
    this.starts = new int[blocks.size()];
    this.ends = new int[blocks.size()];
  }

  /**
   * Posts the READs.
   *
   * @param keeping whether whole indexes may be READ
   */
  void start(boolean keeping) {
    boolean posted;
    try {
      posted = tryRead(keeping && blocks.stream().allMatch(this::isInIndex));
      if (!posted && !wholes.isEmpty()) { // the entries alone need far less room
        dropWholes();
        posted = tryRead(false);
      }
    } catch (RuntimeException | Error e) {
      dropWholes();
      throw e;
    }
    if (!posted) {
      fetch.fallback(blocks, FallbackReason.POOL_EXHAUSTED, "for index entries");
    }
  }

  /** False when the pool has no room. */
  private boolean tryRead(boolean keeping) {
    arrange(keeping);
    Optional<ReadBuffer> acquired = context.transport().tryAcquire(bytes);
    if (acquired.isEmpty()) {
      return false;
    }
    read(acquired.get());
    return true;
  }

  private boolean isInIndex(ShuffleBlock block) {
    return Long.BYTES * (block.endReduce + 1L) <= fetch.indexBytes();
  }

  private void arrange(boolean keeping) {
    int indexBytes = fetch.indexBytes();
    Registered whole = null;
    int wholeAt = 0;
    bytes = 0;
    for (int i = 0; i < starts.length; i++) {
      ShuffleBlock block = blocks.get(i);
      boolean claimed =
          keeping
              && block.output != whole
              && indexBytes <= MOST_WHOLE_BYTES - bytes
              && claim(block, indexBytes);
      if (claimed) {
        whole = block.output;
        wholeAt = bytes;
        bytes += indexBytes;
      }
      if (block.output == whole) { // all blocks of a shuffle have the same partitions
        starts[i] = wholeAt + Long.BYTES * block.startReduce;
        ends[i] = wholeAt + Long.BYTES * block.endReduce;
      } else {
        starts[i] = bytes;
        ends[i] = bytes + Long.BYTES;
        bytes += 2 * Long.BYTES;
      }
    }
  }

  private boolean claim(ShuffleBlock block, int indexBytes) {
    wholes.add(new Whole(block, bytes)); // first: what is claimed is known to be
    boolean claimed = context.indexes().claim(block, indexBytes);
    if (!claimed) {
      wholes.removeLast();
    }
    return claimed;
  }

  private void read(ReadBuffer buffer) {
    try {
      post(buffer);
    } catch (RuntimeException | Error e) {
      ReadBlockBuffer.release(buffer);
      throw e;
    }
  }

  private void post(ReadBuffer buffer) {
    ReadBatch batch =
        context
            .batches()
            .take(
                fetch.listener(blocks, () -> arrived(buffer), failure -> failed(buffer, failure)));
    try {
      int nextWhole = 0;
      Registered whole = null;
      for (int i = 0; i < starts.length; i++) {
        ShuffleBlock block = blocks.get(i);
        if (nextWhole < wholes.size() && wholes.get(nextWhole).block() == block) {
          whole = block.output;
          add(batch, block, 0, buffer, wholes.get(nextWhole++).at(), fetch.indexBytes());
        }
        if (block.output == whole) {
          continue;
        }
        if (block.endReduce == block.startReduce + 1) { // side by side
          add(batch, block, block.startReduce, buffer, starts[i], 2 * Long.BYTES);
        } else {
          add(batch, block, block.startReduce, buffer, starts[i], Long.BYTES);
          add(batch, block, block.endReduce, buffer, ends[i], Long.BYTES);
        }
      }
      connection.read(batch);
    } catch (RuntimeException | Error e) {
      batch.clear();
      throw e;
    }
  }

  private static void add(
      ReadBatch batch, ShuffleBlock block, int entry, ReadBuffer buffer, int at, int length) {
    long iova = block.output.index().iova() + (long) Long.BYTES * entry;
    batch.add(iova, block.output.index().rkey(), buffer, at, length);
  }

  private void arrived(ReadBuffer buffer) {
    List<ShuffleBlock> sound;
    List<ShuffleBlock> unsound;
    try {
      sound = new ArrayList<>(blocks.size());
      unsound = new ArrayList<>(0);
      ByteBuffer entries = buffer.asByteBuffer(0, bytes);
      for (int i = 0; i < starts.length; i++) {
        ShuffleBlock block = blocks.get(i);
        boolean placed =
            IndexEntries.place(block, entries.getLong(starts[i]), entries.getLong(ends[i]));
        (placed ? sound : unsound).add(block);
      }
      for (Whole whole : wholes) {
        long[] offsets = new long[fetch.indexBytes() / Long.BYTES];
        entries.position(whole.at()).asLongBuffer().get(offsets);
        context.indexes().keep(whole.block(), offsets);
      }
      wholes.clear();
    } finally { // whatever is thrown
      over(buffer);
    }
    attempt.placed(connection, sound, unsound);
  }

  private void failed(ReadBuffer buffer, ReadFailure failure) {
    over(buffer);
    attempt.failed(failure, blocks);
  }

  private void over(ReadBuffer buffer) {
    try {
      dropWholes();
    } finally {
      ReadBlockBuffer.release(buffer);
    }
  }

  private void dropWholes() {
    while (!wholes.isEmpty()) {
      context.indexes().drop(wholes.removeLast().block());
    }
  }
}
