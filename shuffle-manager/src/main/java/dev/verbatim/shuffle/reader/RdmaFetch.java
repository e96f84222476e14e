package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request of a reduce task to one executor: locate the map outputs, connect, READ the index
 * entries, READ the data. A block that cannot go on is handed to Spark's own transfer, once; every
 * block is settled exactly once.
 */
final class RdmaFetch {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaFetch.class);

  private final FetchContext context;
  private final TcpFetch tcp;
  private final List<ShuffleBlock> blocks;
  private final Set<ShuffleBlock> unsettled;

  /**
   * @param blocks all of one shuffle
   */
  RdmaFetch(FetchContext context, TcpFetch tcp, List<ShuffleBlock> blocks) {
    this.context = context;
    this.tcp = tcp;
    this.blocks = blocks;
    this.unsettled = new LinkedHashSet<>(blocks);
  }

  void start() {
    long[] mapIds = blocks.stream().mapToLong(block -> block.mapId).distinct().toArray();
    context
        .locator()
        .locate(blocks.getFirst().shuffleId, tcp.executorId(), mapIds)
        .whenComplete((located, error) -> step(() -> located(located)));
  }

  /** Runs a step on a worker; what it throws ends in TCP, so that no block is ever forgotten. */
  void step(Runnable action) {
    try {
      context
          .workers()
          .execute(
              () -> {
                try {
                  action.run();
                } catch (RuntimeException | Error e) {
                  LOG.warn("A fetch from executor {} failed", tcp.executorId(), e);
                  fallbackAll(FallbackReason.READ_FAILED, e.toString());
                }
              });
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      fallbackAll(FallbackReason.READ_FAILED, "stopped, or no thread: " + e.getMessage());
    }
  }

  private void located(Located located) {
    if (located.peer() instanceof PeerState.Off off) {
      boolean unknown = located.missing() == FallbackReason.REGISTRY_FAILED;
      fallbackAll(
          unknown ? FallbackReason.REGISTRY_FAILED : FallbackReason.PEER_WITHOUT_RDMA,
          off.detail());
      return;
    }
    Map<FallbackReason, List<ShuffleBlock>> left = new EnumMap<>(FallbackReason.class);
    List<ShuffleBlock> ready = new ArrayList<>();
    for (ShuffleBlock block : blocks) {
      MapOutputLocation output = located.outputs().get(block.mapId);
      Optional<FallbackReason> reason = obstacle(output, located.missing());
      if (reason.isPresent()) {
        left.computeIfAbsent(reason.get(), key -> new ArrayList<>()).add(block);
      } else {
        block.output = (Registered) output;
        ready.add(block);
      }
    }
    left.forEach((reason, some) -> fallback(some, reason, "for example " + some.getFirst()));
    if (!ready.isEmpty()) {
      context
          .transport()
          .connect(((PeerState.On) located.peer()).address())
          .whenComplete((connection, error) -> step(() -> connected(connection, error, ready)));
    }
  }

  private Optional<FallbackReason> obstacle(MapOutputLocation output, FallbackReason missing) {
    return switch (output) {
      case null -> Optional.of(missing);
      case MapOutputLocation any when !any.executorId().equals(tcp.executorId()) ->
          Optional.of(FallbackReason.OUTPUT_MOVED);
      case Declined declined -> Optional.of(declined.reason());
      case Registered registered -> Optional.empty();
    };
  }

  private void connected(PeerConnection connection, Throwable error, List<ShuffleBlock> ready) {
    if (error != null) {
      FallbackReason reason =
          context.transport().portActive()
              ? FallbackReason.CONNECTION_FAILED
              : FallbackReason.PORT_NOT_ACTIVE;
      fallbackAll(reason, String.valueOf(error.getMessage()));
      return;
    }
    Optional<ReadBuffer> entries = context.transport().tryAcquire(16L * ready.size());
    if (entries.isEmpty()) {
      fallbackAll(FallbackReason.POOL_EXHAUSTED, "for index entries");
      return;
    }
    ReadBatch batch =
        new ReadBatch(
            listener(
                () -> indexArrived(connection, entries.get(), ready),
                failure -> {
                  entries.get().release();
                  failed(failure);
                }));
    for (int i = 0; i < ready.size(); i++) {
      addIndexEntries(batch, ready.get(i), entries.get(), 16L * i);
    }
    connection.read(batch);
  }

  /** The two entries lie side by side for one partition; a batch of partitions has them apart. */
  private static void addIndexEntries(
      ReadBatch batch, ShuffleBlock block, ReadBuffer entries, long at) {
    long iova = block.output.index().iova();
    int rkey = block.output.index().rkey();
    if (block.endReduce == block.startReduce + 1) {
      batch.add(iova + 8L * block.startReduce, rkey, entries, at, 16);
    } else {
      batch.add(iova + 8L * block.startReduce, rkey, entries, at, 8);
      batch.add(iova + 8L * block.endReduce, rkey, entries, at + 8, 8);
    }
  }

  private void indexArrived(
      PeerConnection connection, ReadBuffer entries, List<ShuffleBlock> ready) {
    List<ShuffleBlock> sound = new ArrayList<>();
    List<ShuffleBlock> unsound = new ArrayList<>();
    try {
      ByteBuffer values = entries.asByteBuffer(0, 16 * ready.size());
      for (ShuffleBlock block : ready) {
        long start = values.getLong();
        long end = values.getLong();
        block.offset = start;
        block.length = end - start;
        // An empty block is never asked for; if it is, Spark's own checks must see it.
        boolean valid = 0 <= start && start < end && end <= block.output.dataLength();
        (valid ? sound : unsound).add(block);
      }
    } finally {
      entries.release();
    }
    if (!unsound.isEmpty()) {
      fallback(unsound, FallbackReason.INDEX_INVALID, "for example " + unsound.getFirst());
    }
    if (sound.isEmpty()) {
      return;
    }
    if (tcp.files() == null) {
      new MemoryFetch(this, context, connection, sound).start();
    } else {
      DiskFetch disk = new DiskFetch(this, context, tcp.files(), connection, sound);
      onIo(disk::run);
    }
  }

  /** A listener that leaves the poller's thread at once. */
  ReadListener listener(Runnable success, java.util.function.Consumer<ReadFailure> failure) {
    return new ReadListener() {
      @Override
      public void onSuccess() {
        step(success);
      }

      @Override
      public void onFailure(ReadFailure cause) {
        step(() -> failure.accept(cause));
      }
    };
  }

  void failed(ReadFailure failure) {
    fallbackAll(FallbackReason.of(failure.kind()), failure.kind() + ": " + failure.detail());
  }

  /** Delivers a block that arrived by RDMA; takes over the caller's reference to the data. */
  void deliver(ShuffleBlock block, ReadBlockBuffer data) {
    try {
      if (settle(block)) {
        // Counted before: the task may end, and report, while the listener still runs.
        context.counters().blockByRdma(data.size());
        tcp.listener().onBlockFetchSuccess(block.id, data);
        if (!data.wanted()) {
          context.counters().blockByRdmaUnwanted(data.size());
        }
      }
    } finally {
      data.release();
    }
  }

  /** Delivers a block that arrived by RDMA and lies in a file. */
  void deliverFile(ShuffleBlock block, ManagedBuffer data) {
    if (settle(block)) {
      context.counters().blockByRdma(data.size());
      tcp.listener().onBlockFetchSuccess(block.id, data);
    }
  }

  /** Leaves all blocks that are not settled yet to TCP. */
  void fallbackAll(FallbackReason reason, String detail) {
    fallback(blocks, reason, detail);
  }

  private void fallback(Collection<ShuffleBlock> some, FallbackReason reason, String detail) {
    List<String> ids = some.stream().filter(this::settle).map(block -> block.id).toList();
    if (ids.isEmpty()) {
      return;
    }
    context.counters().fallback(reason, ids.size());
    context.log().note(reason, tcp.executorId(), detail);
    onIo(() -> tcp.fetch(ids));
  }

  private void onIo(Runnable action) {
    try {
      context.io().execute(action);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // Without a thread more: the blocks are settled, so nobody else would fetch them.
      action.run();
    }
  }

  private boolean settle(ShuffleBlock block) {
    synchronized (unsettled) {
      return unsettled.remove(block);
    }
  }
}
