package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocator;
import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.LoggerFactory;

/**
 * An executor's copies of the driver's tables. A shuffle's table is fetched once by all readers
 * together; what it lacks is asked for once more by name, and then left to TCP.
 */
public final class MapOutputTables implements MapOutputLocator {
  private static final ThrottledLog LOG =
      new ThrottledLog(LoggerFactory.getLogger(MapOutputTables.class));

  /** After this time what was not there is asked for again, if somebody still wants it. */
  static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final DriverLink driver;
  private final LongSupplier nanoTime;
  private final Map<Integer, Copy> copies = new ConcurrentHashMap<>();
  private final Map<String, Seen> peers = new ConcurrentHashMap<>();

  /** What the driver has told about an executor, and when it was asked last. */
  private record Seen(PeerState state, long askedAt) {
    boolean off() {
      return state instanceof PeerState.Off;
    }
  }

  public MapOutputTables(DriverLink driver) {
    this(driver, System::nanoTime);
  }

  MapOutputTables(DriverLink driver, LongSupplier nanoTime) {
    this.driver = driver;
    this.nanoTime = nanoTime;
  }

  @Override
  public CompletableFuture<Located> locate(int shuffleId, String executorId, long[] mapIds) {
    Copy copy = copies.computeIfAbsent(shuffleId, Copy::new);
    boolean nothingToAsk =
        copy.failedLately()
            || copy.isOff(executorId, mapIds)
            || copy.lacking(executorId, mapIds).length == 0;
    if (nothingToAsk) {
      return CompletableFuture.completedFuture(copy.answer(executorId, mapIds));
    }
    return copy.synced()
        .thenCompose(done -> copy.await(executorId, copy.lacking(executorId, mapIds)))
        .handle((done, error) -> copy.answer(executorId, mapIds));
  }

  /** Shuffles whose tables are kept. */
  int size() {
    return copies.size();
  }

  /** Forgets a shuffle that is no more. */
  public void remove(int shuffleId) {
    copies.remove(shuffleId);
  }

  private final class Copy {
    private final int shuffleId;
    private final Map<Long, MapOutputLocation> outputs = new ConcurrentHashMap<>();

    /** Map outputs that the driver had no record of, and when it was asked. */
    private final Map<Long, Long> missing = new ConcurrentHashMap<>();

    private CompletableFuture<Void> sync;

    /** Time of the last failure; 0 when the last question was answered. */
    private volatile long failedAt;

    Copy(int shuffleId) {
      this.shuffleId = shuffleId;
    }

    Located answer(String executorId, long[] mapIds) {
      Map<Long, MapOutputLocation> found = new HashMap<>();
      for (long mapId : mapIds) {
        MapOutputLocation output = outputs.get(mapId);
        if (output != null) {
          found.put(mapId, output);
        }
      }
      Seen peer = peers.get(executorId);
      // Of a peer whose RDMA is off nothing more is needed, whether the registry answers or not.
      boolean failed = failedAt != 0 && (peer == null || !peer.off());
      return new Located(
          peer == null
              ? new PeerState.Off(executorId, "the driver's registry has not told about it")
              : peer.state(),
          found,
          failed ? FallbackReason.REGISTRY_FAILED : FallbackReason.RECORD_MISSING);
    }

    boolean failedLately() {
      return failedAt != 0 && nanoTime.getAsLong() - failedAt < RETRY_NANOS;
    }

    /**
     * Whether the executor is known to have RDMA off, or not to be known. That may have changed:
     * one reader asks again now and then, for all of them, and nobody waits for it.
     */
    boolean isOff(String executorId, long[] mapIds) {
      Seen peer = peers.get(executorId);
      if (peer == null || !peer.off()) {
        return false;
      }
      long now = nanoTime.getAsLong();
      if (now - peer.askedAt() > RETRY_NANOS
          && peers.replace(executorId, peer, new Seen(peer.state(), now))) {
        await(executorId, mapIds);
      }
      return true;
    }

    /** What to ask for; nothing when the executor is known to have RDMA off. */
    long[] lacking(String executorId, long[] mapIds) {
      Seen peer = peers.get(executorId);
      if (peer != null && peer.off()) {
        return new long[0];
      }
      long now = nanoTime.getAsLong();
      return java.util.Arrays.stream(mapIds)
          .filter(mapId -> !outputs.containsKey(mapId))
          .filter(
              mapId -> {
                Long asked = missing.get(mapId);
                return asked == null || now - asked > RETRY_NANOS;
              })
          .toArray();
    }

    synchronized CompletableFuture<Void> synced() {
      if (sync == null || sync.isCompletedExceptionally()) {
        sync = syncFrom(0).whenComplete(this::note);
      }
      return sync;
    }

    private CompletableFuture<Void> syncFrom(int position) {
      return driver
          .askTable(new Sync(shuffleId, position))
          .thenCompose(
              table -> {
                add(table);
                if (!table.more()) {
                  return CompletableFuture.completedFuture(null);
                }
                if (table.position() <= position) {
                  throw new IllegalStateException("no progress from position " + position);
                }
                return syncFrom(table.position());
              });
    }

    CompletableFuture<Void> await(String executorId, long[] mapIds) {
      if (mapIds.length == 0) {
        return CompletableFuture.completedFuture(null);
      }
      return driver
          .askTable(new Await(shuffleId, executorId, mapIds))
          .<Void>thenApply(
              table -> {
                add(table);
                long now = nanoTime.getAsLong();
                for (long mapId : mapIds) {
                  if (!outputs.containsKey(mapId)) {
                    missing.put(mapId, now);
                  }
                }
                return null;
              })
          .whenComplete(this::note);
    }

    private void add(Table table) {
      if (table.gone()) {
        // A task of a removed shuffle asked: nobody would remove this copy.
        copies.remove(shuffleId, this);
      }
      long now = nanoTime.getAsLong();
      table.peers().forEach(peer -> peers.put(peer.executorId(), new Seen(peer, now)));
      for (MapOutputLocation output : table.outputs()) {
        outputs.put(output.mapId(), output);
        missing.remove(output.mapId());
      }
    }

    private void note(Void done, Throwable error) {
      if (error == null) {
        failedAt = 0;
        return;
      }
      failedAt = nanoTime.getAsLong() | 1;
      LOG.warn("registry", "The registry did not answer about shuffle " + shuffleId, error);
    }
  }
}
