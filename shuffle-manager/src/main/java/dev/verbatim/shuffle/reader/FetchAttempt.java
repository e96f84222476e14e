package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.LoggerFactory;

/**
 * One attempt at blocks of a request: locate the map outputs, connect, READ the index entries, READ
 * the data.
 *
 * <p>A failed READ takes the connection down, and with it the READs of all others on it. So blocks
 * that may be innocent are tried again on a fresh connection, a bounded number of times, each map
 * output by itself then, so that one whose registration is gone is found.
 */
final class FetchAttempt {
  static final int MOST_ATTEMPTS = 3;
  private static final ThrottledLog LOG =
      new ThrottledLog(LoggerFactory.getLogger(FetchAttempt.class));

  private final RdmaFetch fetch;
  private final FetchContext context;
  private final List<ShuffleBlock> blocks;
  private final int number;

  /**
   * @param blocks all of one shuffle
   * @param number from 1
   */
  FetchAttempt(RdmaFetch fetch, FetchContext context, List<ShuffleBlock> blocks, int number) {
    this.fetch = fetch;
    this.context = context;
    this.blocks = blocks;
    this.number = number;
  }

  void start() {
    long[] mapIds = blocks.stream().mapToLong(block -> block.mapId).distinct().toArray();
    context
        .locator()
        .locate(blocks.getFirst().shuffleId, fetch.executorId(), mapIds)
        .whenComplete((located, error) -> fetch.step(blocks, () -> located(located)));
  }

  private void located(Located located) {
    if (located.peer() instanceof PeerState.Off off) {
      boolean unknown = located.missing() == FallbackReason.REGISTRY_FAILED;
      fetch.fallback(
          blocks,
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
    left.forEach((reason, some) -> fetch.fallback(some, reason, "for example " + some.getFirst()));
    if (!ready.isEmpty()) {
      context
          .transport()
          .connect(((PeerState.On) located.peer()).address())
          .whenComplete(
              (connection, error) -> fetch.step(ready, () -> connected(connection, error, ready)));
    }
  }

  private Optional<FallbackReason> obstacle(MapOutputLocation output, FallbackReason missing) {
    return switch (output) {
      case null -> Optional.of(missing);
      case MapOutputLocation any when !any.executorId().equals(fetch.executorId()) ->
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
              : context.ownPortReason();
      fetch.fallback(ready, reason, String.valueOf(error.getMessage()));
      return;
    }
    if (number == 1) {
      readIndex(connection, ready);
      return;
    }
    Map<Long, List<ShuffleBlock>> byOutput = new LinkedHashMap<>();
    ready.forEach(
        block -> byOutput.computeIfAbsent(block.mapId, key -> new ArrayList<>()).add(block));
    byOutput.values().forEach(some -> readIndex(connection, some));
  }

  private void readIndex(PeerConnection connection, List<ShuffleBlock> some) {
    Optional<ReadBuffer> acquired =
        context.transport().tryAcquire(IndexEntries.BYTES * some.size());
    if (acquired.isEmpty()) {
      fetch.fallback(some, FallbackReason.POOL_EXHAUSTED, "for index entries");
      return;
    }
    ReadBuffer entries = acquired.get();
    try {
      ReadBatch batch =
          new ReadBatch(
              fetch.listener(
                  some,
                  () -> indexArrived(connection, entries, some),
                  failure -> {
                    entries.release();
                    failed(failure, some);
                  }));
      for (int i = 0; i < some.size(); i++) {
        addIndexEntries(batch, some.get(i), entries, IndexEntries.BYTES * i);
      }
      connection.read(batch);
    } catch (RuntimeException | Error e) {
      entries.release();
      throw e;
    }
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
      PeerConnection connection, ReadBuffer entries, List<ShuffleBlock> some) {
    List<ShuffleBlock> sound = new ArrayList<>();
    List<ShuffleBlock> unsound = new ArrayList<>();
    try {
      ByteBuffer values = entries.asByteBuffer(0, IndexEntries.BYTES * some.size());
      for (ShuffleBlock block : some) {
        (IndexEntries.place(block, values) ? sound : unsound).add(block);
      }
    } finally {
      entries.release();
    }
    if (!unsound.isEmpty()) {
      fetch.fallback(unsound, FallbackReason.INDEX_INVALID, "for example " + unsound.getFirst());
    }
    if (sound.isEmpty()) {
      return;
    }
    if (fetch.files() == null) {
      new MemoryFetch(fetch, this, context, connection, sound).start();
    } else {
      DiskFetch disk = new DiskFetch(fetch, this, context, fetch.files(), connection, sound);
      fetch.onIo(disk::run);
    }
  }

  /** Goes on with the blocks of a batch that failed, when nothing else is under way for them. */
  void failed(ReadFailure cause, Collection<ShuffleBlock> hit) {
    if (!leaveGuilty(cause, hit)) {
      retry(cause, hit);
    }
  }

  /**
   * Leaves the blocks of a batch to TCP if it is certain that the batch itself has failed.
   *
   * @return whether it is
   */
  boolean leaveGuilty(ReadFailure cause, Collection<ShuffleBlock> hit) {
    boolean guilty =
        switch (cause.kind()) {
          case DISCONNECTED -> false;
          case REMOTE_ACCESS ->
              hit.stream().mapToLong(block -> block.mapId).distinct().count() == 1;
          case PEER_UNREACHABLE, DEADLINE, LOCAL_PORT, LOCAL_DEVICE, OTHER -> true;
        };
    if (guilty) {
      leave(cause, hit);
    }
    return guilty;
  }

  /** Tries blocks again whose connection went down, unless a fresh one would not be better. */
  void retry(ReadFailure cause, Collection<ShuffleBlock> some) {
    List<ShuffleBlock> open = fetch.open(some);
    if (open.isEmpty()) {
      return;
    }
    boolean hopeful =
        switch (cause.kind()) {
          case DISCONNECTED, REMOTE_ACCESS, OTHER -> true;
          case PEER_UNREACHABLE, DEADLINE, LOCAL_PORT, LOCAL_DEVICE -> false;
        };
    if (!hopeful || number == MOST_ATTEMPTS) {
      leave(cause, open);
      return;
    }
    LOG.warn(
        fetch.executorId() + cause.kind(),
        "%d blocks of executor %s are read once more: %s: %s"
            .formatted(open.size(), fetch.executorId(), cause.kind(), cause.detail()),
        null);
    new FetchAttempt(fetch, context, open, number + 1).start();
  }

  private void leave(ReadFailure cause, Collection<ShuffleBlock> some) {
    fetch.fallback(some, FallbackReason.of(cause.kind()), cause.kind() + ": " + cause.detail());
  }
}
