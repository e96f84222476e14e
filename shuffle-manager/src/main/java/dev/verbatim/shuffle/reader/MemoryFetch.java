package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.PieceBatches.Piece;
import dev.verbatim.shuffle.reader.ReadBlockBuffer.Slice;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * READs the data of located blocks into the pool: in batches of bounded size, so that a batch's
 * deadline is about the network and not about the size of the request, a few in flight at a time.
 */
final class MemoryFetch {
  /** Small blocks share a buffer up to this size, and keep it until all of them are consumed. */
  static final int SHARED_BYTES = 256 << 10;

  private static final int BATCHES_IN_FLIGHT = 2;

  private static final Consumer<List<ShuffleBlock>> OVER = rest -> {};

  /** One batch: what goes where, and the references that it holds itself. */
  private record Landings(
      List<Piece> pieces, List<Slice> slices, List<ReadBuffer> buffers, List<ShuffleBlock> blocks) {
    Landings(List<Piece> pieces) {
      this(
          pieces,
          new ArrayList<>(pieces.size()),
          new ArrayList<>(pieces.size()), // as many at most: a buffer that is got finds its place
          blocksOf(pieces));
    }

    private static List<ShuffleBlock> blocksOf(List<Piece> pieces) {
      List<ShuffleBlock> blocks = new ArrayList<>(pieces.size());
      for (Piece piece : pieces) { // those of a block come one after the other
        if (blocks.isEmpty() || blocks.getLast() != piece.block()) {
          blocks.add(piece.block());
        }
      }
      return blocks;
    }

    void release() {
      buffers.forEach(ReadBlockBuffer::release);
    }
  }

  private final RdmaFetch fetch;
  private final FetchAttempt attempt;
  private final FetchContext context;
  private final PeerConnection connection;
  private final List<ShuffleBlock> blocks;
  private final PieceBatches waiting;

  /** Slices of unfinished blocks that have several, by position: batches may end in any order. */
  private final Map<ShuffleBlock, TreeMap<Long, Slice>> partial = new HashMap<>();

  private int inFlight;

  /** What becomes of the blocks that are left over, since a failure; null without one. */
  private Consumer<List<ShuffleBlock>> ending;

  /** Leaves them to TCP for an error. Made before it, for then there may be no memory. */
  private final Consumer<List<ShuffleBlock>> breaking;

  private Throwable error;

  MemoryFetch(FetchAttempt attempt, PeerConnection connection, List<ShuffleBlock> blocks) {
    this.fetch = attempt.fetch();
    this.attempt = attempt;
    this.context = attempt.context();
    this.connection = connection;
    this.blocks = blocks;
    this.waiting = new PieceBatches(blocks);
    this.breaking =
        rest ->
            fetch.fallback(
                rest, FallbackReason.READ_FAILED, error == null ? "out of memory" : error);
  }

  void start() {
    goOn();
  }

  /** Posts what may be in flight; after a failure waits for the rest and then ends. */
  private void goOn() {
    for (List<Piece> next = poll(); next != null; next = poll()) {
      try {
        post(next);
      } catch (RuntimeException | Error e) {
        ended(breakOff(e));
      }
    }
    Consumer<List<ShuffleBlock>> end = takeEnding();
    if (end == null) {
      return;
    }
    try {
      dropPartial();
      end.accept(blocks);
    } catch (RuntimeException | Error e) {
      fetch.fallback(blocks, FallbackReason.READ_FAILED, e);
    }
  }

  private synchronized Consumer<List<ShuffleBlock>> takeEnding() {
    if (ending == null || inFlight > 0) {
      return null;
    }
    Consumer<List<ShuffleBlock>> end = ending;
    ending = OVER;
    return end;
  }

  private synchronized List<Piece> poll() {
    if (ending != null || inFlight == BATCHES_IN_FLIGHT) {
      return null;
    }
    try {
      List<Piece> batch = waiting.next();
      if (batch.isEmpty()) {
        return null;
      }
      inFlight++;
      return batch;
    } catch (RuntimeException | Error e) { // the pieces that it was about come no second time
      ending = breakOff(e);
      return null;
    }
  }

  private void post(List<Piece> pieces) {
    Landings batch = new Landings(pieces);
    try {
      if (findRoom(batch)) {
        read(batch);
        return;
      }
    } catch (RuntimeException | Error e) {
      batch.release();
      throw e;
    }
    batch.release();
    ended(rest -> fetch.fallback(rest, FallbackReason.POOL_EXHAUSTED, "for data"));
  }

  private boolean findRoom(Landings batch) {
    List<Piece> pieces = batch.pieces();
    for (int from = 0; from < pieces.size(); ) {
      int to = from + 1;
      long bytes = pieces.get(from).length();
      while (to < pieces.size() && bytes + pieces.get(to).length() <= SHARED_BYTES) {
        bytes += pieces.get(to++).length();
      }
      Optional<ReadBuffer> buffer = context.transport().tryAcquire(bytes);
      if (buffer.isEmpty()) {
        return false;
      }
      batch.buffers().add(buffer.get());
      long at = 0;
      for (; from < to; from++) {
        int length = pieces.get(from).length();
        batch.slices().add(new Slice(buffer.get(), at, length));
        at += length;
      }
    }
    return true;
  }

  private void read(Landings batch) {
    ReadPlan plan =
        new ReadPlan(
            context
                .batches()
                .take(
                    fetch.listener(
                        batch.blocks(), () -> arrived(batch), cause -> failed(cause, batch))));
    try {
      for (int i = 0; i < batch.slices().size(); i++) {
        Piece piece = batch.pieces().get(i);
        Slice slice = batch.slices().get(i);
        plan.add(
            piece.block().output, piece.position(), piece.length(), slice.buffer(), slice.offset());
      }
      connection.read(plan.batch());
    } catch (RuntimeException | Error e) {
      plan.clear();
      throw e;
    }
  }

  private void arrived(Landings batch) {
    Consumer<List<ShuffleBlock>> failed = null;
    try {
      Arrivals complete = null;
      try {
        complete = new Arrivals(batch.slices().size());
        keep(batch, complete);
      } catch (RuntimeException | Error e) { // some blocks will never be whole
        failed = breakOff(e);
      }
      if (complete != null) {
        complete.deliver(fetch);
      }
    } finally { // whatever is thrown, memory that is used up above all: other batches go on
      over(batch, failed);
    }
  }

  private synchronized void keep(Landings batch, Arrivals complete) {
    for (int i = 0; i < batch.slices().size(); i++) {
      keep(batch.pieces().get(i), batch.slices().get(i), complete);
    }
  }

  private void keep(Piece piece, Slice slice, Arrivals complete) {
    ShuffleBlock block = piece.block();
    if (piece.length() == block.length) {
      complete.add(block, new ReadBlockBuffer(List.of(slice)));
      slice.buffer().retain();
      return;
    }
    TreeMap<Long, Slice> slices = partial.computeIfAbsent(block, key -> new TreeMap<>());
    slices.put(piece.position(), slice);
    slice.buffer().retain();
    if (slices.values().stream().mapToLong(Slice::length).sum() == block.length) {
      complete.add(block, new ReadBlockBuffer(List.copyOf(slices.values())));
      partial.remove(block);
    }
  }

  private void failed(ReadFailure cause, Landings batch) {
    Consumer<List<ShuffleBlock>> failed = breaking;
    try {
      failed = rest -> attempt.retry(cause, rest);
      attempt.leaveGuilty(cause, batch.blocks());
    } finally {
      over(batch, failed);
    }
  }

  private void over(Landings batch, Consumer<List<ShuffleBlock>> failed) {
    try {
      batch.release();
    } finally {
      ended(failed);
      goOn();
    }
  }

  private synchronized Consumer<List<ShuffleBlock>> breakOff(Throwable e) {
    error = e;
    return breaking;
  }

  /**
   * One batch less is in flight.
   *
   * @param failed how to go on if it has failed, or null; the first one counts
   */
  private synchronized void ended(Consumer<List<ShuffleBlock>> failed) {
    inFlight--;
    if (ending == null) {
      ending = failed;
    }
  }

  private synchronized void dropPartial() {
    partial
        .values()
        .forEach(
            slices -> slices.values().forEach(slice -> ReadBlockBuffer.release(slice.buffer())));
    partial.clear();
  }
}
