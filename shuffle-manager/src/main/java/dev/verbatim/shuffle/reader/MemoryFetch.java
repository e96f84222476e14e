package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.ReadBlockBuffer.Slice;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * READs the data of located blocks into the pool: in batches of bounded size, so that a batch's
 * deadline is about the network and not about the size of the request, a few in flight at a time.
 */
final class MemoryFetch {
  /** Larger blocks are put together from pieces, so that no slab has to hold a whole block. */
  static final int PIECE_BYTES = 4 << 20;

  /** Small blocks share a buffer up to this size, and keep it until all of them are consumed. */
  static final int SHARED_BYTES = 256 << 10;

  static final long BATCH_BYTES = 8 << 20;
  private static final int BATCHES_IN_FLIGHT = 2;

  private record Piece(ShuffleBlock block, long position, int length) {}

  private record Landing(Piece piece, Slice slice) {}

  private final RdmaFetch fetch;
  private final FetchContext context;
  private final PeerConnection connection;
  private final ArrayDeque<List<Piece>> waiting = new ArrayDeque<>();

  /** Slices of unfinished blocks by position: batches may end in any order. */
  private final Map<ShuffleBlock, TreeMap<Long, Slice>> partial = new HashMap<>();

  private int inFlight;
  private FallbackReason failure;
  private String failureDetail;

  MemoryFetch(
      RdmaFetch fetch, FetchContext context, PeerConnection connection, List<ShuffleBlock> blocks) {
    this.fetch = fetch;
    this.context = context;
    this.connection = connection;
    plan(blocks);
  }

  private void plan(List<ShuffleBlock> blocks) {
    List<Piece> batch = new ArrayList<>();
    long bytes = 0;
    for (ShuffleBlock block : blocks) {
      for (long done = 0; done < block.length; done += PIECE_BYTES) {
        int length = (int) Math.min(PIECE_BYTES, block.length - done);
        if (bytes > 0 && bytes + length > BATCH_BYTES) {
          waiting.add(batch);
          batch = new ArrayList<>();
          bytes = 0;
        }
        batch.add(new Piece(block, block.offset + done, length));
        bytes += length;
      }
    }
    waiting.add(batch);
  }

  void start() {
    postMore();
  }

  /** Posts what may be in flight; after a failure waits for the rest, then leaves all to TCP. */
  private void postMore() {
    List<ReadBatch> ready = new ArrayList<>();
    boolean over;
    synchronized (this) {
      while (failure == null && inFlight < BATCHES_IN_FLIGHT && !waiting.isEmpty()) {
        prepare(waiting.poll())
            .ifPresentOrElse(
                batch -> {
                  ready.add(batch);
                  inFlight++;
                },
                () -> fail(FallbackReason.POOL_EXHAUSTED, "for data"));
      }
      over = failure != null && inFlight == 0;
    }
    ready.forEach(connection::read);
    if (over) {
      dropPartial();
      fetch.fallbackAll(failure, failureDetail);
    }
  }

  private void fail(FallbackReason reason, String detail) {
    if (failure == null) {
      failure = reason;
      failureDetail = detail;
    }
  }

  private Optional<ReadBatch> prepare(List<Piece> pieces) {
    List<Landing> landings = new ArrayList<>();
    List<ReadBuffer> buffers = new ArrayList<>();
    for (int from = 0; from < pieces.size(); ) {
      int to = from + 1;
      long bytes = pieces.get(from).length();
      while (to < pieces.size() && bytes + pieces.get(to).length() <= SHARED_BYTES) {
        bytes += pieces.get(to++).length();
      }
      Optional<ReadBuffer> buffer = context.transport().tryAcquire(bytes);
      if (buffer.isEmpty()) {
        buffers.forEach(ReadBuffer::release);
        return Optional.empty();
      }
      buffers.add(buffer.get());
      long at = 0;
      for (Piece piece : pieces.subList(from, to)) {
        landings.add(new Landing(piece, new Slice(buffer.get(), at, piece.length())));
        at += piece.length();
      }
      from = to;
    }
    ReadPlan plan =
        new ReadPlan(
            new ReadBatch(
                fetch.listener(() -> arrived(landings, buffers), cause -> failed(cause, buffers))));
    for (Landing landing : landings) {
      Piece piece = landing.piece();
      Slice slice = landing.slice();
      plan.add(
          piece.block().output, piece.position(), piece.length(), slice.buffer(), slice.offset());
    }
    return Optional.of(plan.batch());
  }

  private void arrived(List<Landing> landings, List<ReadBuffer> buffers) {
    List<ShuffleBlock> complete = new ArrayList<>();
    List<ReadBlockBuffer> data = new ArrayList<>();
    synchronized (this) {
      inFlight--;
      for (Landing landing : landings) {
        landing.slice().buffer().retain();
        ShuffleBlock block = landing.piece().block();
        TreeMap<Long, Slice> slices = partial.computeIfAbsent(block, key -> new TreeMap<>());
        slices.put(landing.piece().position(), landing.slice());
        if (slices.values().stream().mapToLong(Slice::length).sum() == block.length) {
          partial.remove(block);
          complete.add(block);
          data.add(new ReadBlockBuffer(List.copyOf(slices.values())));
        }
      }
    }
    buffers.forEach(ReadBuffer::release);
    for (int i = 0; i < complete.size(); i++) {
      fetch.deliver(complete.get(i), data.get(i));
    }
    postMore();
  }

  private void failed(ReadFailure cause, List<ReadBuffer> buffers) {
    buffers.forEach(ReadBuffer::release);
    synchronized (this) {
      inFlight--;
      fail(FallbackReason.of(cause.kind()), cause.kind() + ": " + cause.detail());
    }
    postMore();
  }

  private synchronized void dropPartial() {
    partial.values().forEach(slices -> slices.values().forEach(slice -> slice.buffer().release()));
    partial.clear();
  }
}
