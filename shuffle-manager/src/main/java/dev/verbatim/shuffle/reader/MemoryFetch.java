package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.PieceBatches.Piece;
import dev.verbatim.shuffle.reader.ReadBlockBuffer.Slice;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * READs the data of located blocks into the pool: in batches of bounded size, so that a batch's
 * deadline is about the network and not about the size of the request, a few in flight at a time.
 */
final class MemoryFetch {
  /** Small blocks share a buffer up to this size, and keep it until all of them are consumed. */
  static final int SHARED_BYTES = 256 << 10;

  private static final int BATCHES_IN_FLIGHT = 2;

  private record Landing(Piece piece, Slice slice) {}

  /** One batch: its bytes and the references that it holds itself. */
  private record Landings(List<Landing> landings, List<ReadBuffer> buffers) {
    Set<ShuffleBlock> blocks() {
      return landings.stream()
          .map(landing -> landing.piece().block())
          .collect(Collectors.toCollection(LinkedHashSet::new));
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

  /** Slices of unfinished blocks by position: batches may end in any order. */
  private final Map<ShuffleBlock, TreeMap<Long, Slice>> partial = new HashMap<>();

  private int inFlight;

  /** What becomes of the blocks that are left over, since a failure; null without one. */
  private Consumer<List<ShuffleBlock>> ending;

  MemoryFetch(
      RdmaFetch fetch,
      FetchAttempt attempt,
      FetchContext context,
      PeerConnection connection,
      List<ShuffleBlock> blocks) {
    this.fetch = fetch;
    this.attempt = attempt;
    this.context = context;
    this.connection = connection;
    this.blocks = blocks;
    this.waiting = new PieceBatches(blocks);
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
        ended(leave(FallbackReason.READ_FAILED, e.toString()));
      }
    }
    Consumer<List<ShuffleBlock>> end = null;
    synchronized (this) {
      if (ending != null && inFlight == 0) {
        end = ending;
        ending = rest -> {};
        dropPartial();
      }
    }
    if (end != null) {
      try {
        end.accept(blocks);
      } catch (RuntimeException | Error e) {
        fetch.fallback(blocks, FallbackReason.READ_FAILED, e.toString());
      }
    }
  }

  private synchronized List<Piece> poll() {
    if (ending != null || inFlight == BATCHES_IN_FLIGHT) {
      return null;
    }
    List<Piece> batch = waiting.next();
    if (batch.isEmpty()) {
      return null;
    }
    inFlight++;
    return batch;
  }

  private void post(List<Piece> pieces) {
    Landings batch = new Landings(new ArrayList<>(), new ArrayList<>());
    try {
      if (!findRoom(pieces, batch)) {
        batch.release();
        ended(leave(FallbackReason.POOL_EXHAUSTED, "for data"));
        return;
      }
      ReadPlan plan =
          new ReadPlan(
              new ReadBatch(
                  fetch.listener(
                      batch.blocks(), () -> arrived(batch), cause -> failed(cause, batch))));
      for (Landing landing : batch.landings()) {
        Piece piece = landing.piece();
        Slice slice = landing.slice();
        plan.add(
            piece.block().output, piece.position(), piece.length(), slice.buffer(), slice.offset());
      }
      connection.read(plan.batch());
    } catch (RuntimeException | Error e) {
      batch.release();
      throw e;
    }
  }

  private boolean findRoom(List<Piece> pieces, Landings batch) {
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
      for (Piece piece : pieces.subList(from, to)) {
        batch.landings().add(new Landing(piece, new Slice(buffer.get(), at, piece.length())));
        at += piece.length();
      }
      from = to;
    }
    return true;
  }

  private void arrived(Landings batch) {
    Map<ShuffleBlock, ReadBlockBuffer> complete = new LinkedHashMap<>();
    Consumer<List<ShuffleBlock>> failed = null;
    try {
      synchronized (this) {
        batch.landings().forEach(landing -> keep(landing, complete));
      }
    } catch (RuntimeException | Error e) {
      failed = leave(FallbackReason.READ_FAILED, e.toString());
    }
    batch.release();
    try {
      fetch.deliver(complete);
    } finally { // whatever is thrown, memory that is used up above all: other batches go on
      ended(failed);
      goOn();
    }
  }

  private void keep(Landing landing, Map<ShuffleBlock, ReadBlockBuffer> complete) {
    ShuffleBlock block = landing.piece().block();
    TreeMap<Long, Slice> slices = partial.computeIfAbsent(block, key -> new TreeMap<>());
    slices.put(landing.piece().position(), landing.slice());
    landing.slice().buffer().retain();
    if (slices.values().stream().mapToLong(Slice::length).sum() == block.length) {
      complete.put(block, new ReadBlockBuffer(List.copyOf(slices.values())));
      partial.remove(block);
    }
  }

  private void failed(ReadFailure cause, Landings batch) {
    batch.release();
    try {
      attempt.leaveGuilty(cause, batch.blocks());
    } finally {
      ended(rest -> attempt.retry(cause, rest));
      goOn();
    }
  }

  private Consumer<List<ShuffleBlock>> leave(FallbackReason reason, String detail) {
    return rest -> fetch.fallback(rest, reason, detail);
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

  private void dropPartial() {
    partial
        .values()
        .forEach(
            slices -> slices.values().forEach(slice -> ReadBlockBuffer.release(slice.buffer())));
    partial.clear();
  }
}
