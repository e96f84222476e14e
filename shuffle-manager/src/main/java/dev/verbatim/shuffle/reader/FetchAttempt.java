package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.ReadFailure;
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
 * <p>Where the index of a map output is kept ({@link IndexCache}), no entries of it are READ. After
 * a failure it is not kept any more, and later attempts READ what they need.
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

  RdmaFetch fetch() {
    return fetch;
  }

  FetchContext context() {
    return context;
  }

  void start() {
    long[] mapIds = blocks.stream().mapToLong(block -> block.mapId).distinct().toArray();
    context
        .locator()
        .locate(blocks.getFirst().shuffleId, fetch.executorId(), mapIds)
        .whenComplete(fetch.step(blocks, (located, error) -> located(located)));
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
              fetch.step(ready, (connection, error) -> connected(connection, error, ready)));
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
      place(connection, ready);
      return;
    }
    Map<Long, List<ShuffleBlock>> byOutput = new LinkedHashMap<>();
    ready.forEach(
        block -> byOutput.computeIfAbsent(block.mapId, key -> new ArrayList<>()).add(block));
    byOutput.values().forEach(some -> readIndex(connection, some));
  }

  /** Goes on at once with the blocks whose index is kept. */
  private void place(PeerConnection connection, List<ShuffleBlock> ready) {
    List<ShuffleBlock> sound = new ArrayList<>(ready.size());
    List<ShuffleBlock> unsound = new ArrayList<>(0);
    List<ShuffleBlock> unknown = new ArrayList<>(0);
    for (ShuffleBlock block : ready) {
      long[] offsets = context.indexes().get(block);
      if (offsets == null || block.endReduce >= offsets.length) {
        unknown.add(block);
      } else {
        long start = offsets[block.startReduce];
        (IndexEntries.place(block, start, offsets[block.endReduce]) ? sound : unsound).add(block);
      }
    }
    if (!unknown.isEmpty()) {
      readIndex(connection, unknown);
    }
    placed(connection, sound, unsound);
  }

  private void readIndex(PeerConnection connection, List<ShuffleBlock> some) {
    new IndexFetch(this, connection, some).start(number == 1);
  }

  /**
   * Goes on with blocks whose index entries are known.
   *
   * @param sound their place is known
   * @param unsound their entries cannot be right
   */
  void placed(PeerConnection connection, List<ShuffleBlock> sound, List<ShuffleBlock> unsound) {
    if (!unsound.isEmpty()) {
      unsound.forEach(context.indexes()::drop);
      fetch.fallback(unsound, FallbackReason.INDEX_INVALID, "for example " + unsound.getFirst());
    }
    if (sound.isEmpty()) {
      return;
    }
    if (fetch.files() == null) {
      new MemoryFetch(this, connection, sound).start();
    } else {
      DiskFetch disk = new DiskFetch(this, connection, sound);
      fetch.runOnIo(disk::run);
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
    open.forEach(context.indexes()::drop);
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
    some.forEach(context.indexes()::drop);
    fetch.fallback(some, FallbackReason.of(cause.kind()), cause.kind() + ": " + cause.detail());
  }
}
