package dev.verbatim.shuffle.writer;

import dev.verbatim.shuffle.fallback.FallbackLog;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import dev.verbatim.shuffle.registry.OutputPublisher;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.RegistrationException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;

/**
 * Registers committed map outputs off the task's thread and has one record published for each,
 * registered or declined.
 */
public final class OutputRegistrar implements AutoCloseable {
  private final RdmaTransport transport;
  private final OutputPublisher publisher;
  private final String executorId;
  private final ShuffleCounters counters;
  private final FallbackLog log;
  private final ExecutorService threads;
  private final RegistrationBudget budget;
  private final long copyThreshold;
  private final Map<Path, FilePinMode> modes;
  private final Map<Integer, OutputArena> arenas = new ConcurrentHashMap<>();

  /**
   * @param threads with a bounded queue; closed with this
   * @param copyThreshold map outputs up to this size, bytes, are copied
   * @param modes how files in each local directory may be registered
   */
  public OutputRegistrar(
      RdmaTransport transport,
      OutputPublisher publisher,
      String executorId,
      ShuffleCounters counters,
      FallbackLog log,
      ExecutorService threads,
      RegistrationBudget budget,
      long copyThreshold,
      Map<Path, FilePinMode> modes) {
    this.transport = transport;
    this.publisher = publisher;
    this.executorId = executorId;
    this.counters = counters;
    this.log = log;
    this.threads = threads;
    this.budget = budget;
    this.copyThreshold = copyThreshold;
    this.modes = Map.copyOf(modes);
  }

  /** The arena of a shuffle; taken before its map task writes, it is closed if the shuffle goes. */
  OutputArena arena(int shuffleId) {
    return arenas.computeIfAbsent(shuffleId, key -> new OutputArena(transport, budget, counters));
  }

  /** A map task begins to write; {@link #mapTaskEnds} is to follow. */
  void mapTaskBegins(int shuffleId) {
    publisher.mapTaskBegins(shuffleId);
  }

  /** A map task has ended, and was submitted if it is to be registered. */
  void mapTaskEnds(int shuffleId) {
    publisher.mapTaskEnds(shuffleId);
  }

  /** Returns at once. */
  void submit(OutputArena arena, MapOutputFiles files) {
    try {
      threads.execute(() -> register(arena, files));
    } catch (RejectedExecutionException e) {
      decline(arena, files, FallbackReason.REGISTRATION_BACKLOG, "queue full");
    } catch (OutOfMemoryError e) {
      decline(arena, files, FallbackReason.REGISTRATION_BACKLOG, "no thread: " + e.getMessage());
    }
  }

  /** Makes the keys of a shuffle stale, on another thread. */
  public void remove(int shuffleId) {
    OutputArena arena = arenas.remove(shuffleId);
    if (arena != null) {
      closeSoon(arena);
    }
  }

  /** A map task of a removed shuffle began after the removal: what it brought goes again. */
  private void tooLate(int shuffleId, OutputArena arena) {
    if (arenas.remove(shuffleId, arena)) {
      closeSoon(arena);
    }
  }

  private void closeSoon(OutputArena arena) {
    try {
      threads.execute(arena::close);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      arena.close();
    }
  }

  private void register(OutputArena arena, MapOutputFiles files) {
    long start = System.nanoTime();
    try {
      MapOutputLocation output = locate(arena, files);
      if (output != null) {
        counters.outputRegistered(System.nanoTime() - start);
        publish(arena, files, output);
      }
    } catch (DeclinedException e) {
      decline(arena, files, e.reason(), e.getMessage());
    } catch (RegistrationException e) {
      decline(arena, files, FallbackReason.of(e.kind()), e.getMessage());
    } catch (IOException e) {
      decline(arena, files, FallbackReason.FILE_UNREADABLE, e.toString());
    } catch (RuntimeException | Error e) {
      // Uncaught, it would end the executor.
      decline(arena, files, FallbackReason.DEVICE_ERROR, e.toString());
    }
  }

  /** Null for a map output without data: none of its blocks is ever asked for. */
  private MapOutputLocation locate(OutputArena arena, MapOutputFiles files)
      throws DeclinedException, RegistrationException, IOException {
    try (FileChannel index = FileChannel.open(files.index(), StandardOpenOption.READ)) {
      long length = lastOffset(index);
      return length == 0 ? null : locate(arena, files, index, length);
    }
  }

  private Registered locate(OutputArena arena, MapOutputFiles files, FileChannel index, long length)
      throws DeclinedException, RegistrationException, IOException {
    try (FileChannel data = FileChannel.open(files.data(), StandardOpenOption.READ)) {
      if (data.size() != length) {
        throw new IOException(files + " has " + data.size() + " bytes, its index says " + length);
      }
      // First, so that no data stays registered for want of room for its index.
      RemoteAddress offsets = arena.copy(index, index.size());
      List<RemoteAddress> regions;
      long regionLength = length;
      FilePinMode mode = length <= copyThreshold ? FilePinMode.COPY : mode(files.data());
      if (mode == FilePinMode.COPY) {
        regions = List.of(arena.copy(data, length));
      } else {
        List<MemoryRegion> mapped = arena.map(files.data(), length, mode);
        regionLength = mapped.getFirst().length();
        regions = mapped.stream().map(OutputRegistrar::address).toList();
      }
      return new Registered(files.mapId(), executorId, regions, regionLength, length, offsets);
    }
  }

  private static RemoteAddress address(MemoryRegion region) {
    return new RemoteAddress(region.iova(), region.rkey());
  }

  private static long lastOffset(FileChannel index) throws IOException {
    long length = index.size();
    if (length < 2 * Long.BYTES) {
      throw new IOException("index file of " + length + " bytes");
    }
    ByteBuffer last = ByteBuffer.allocate(Long.BYTES);
    while (last.hasRemaining()) {
      if (index.read(last, length - Long.BYTES + last.position()) < 0) {
        throw new IOException("index file ends early");
      }
    }
    return last.getLong(0);
  }

  private FilePinMode mode(Path file) {
    return modes.entrySet().stream()
        .filter(entry -> file.startsWith(entry.getKey()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse(FilePinMode.COPY);
  }

  private void decline(
      OutputArena arena, MapOutputFiles files, FallbackReason reason, String detail) {
    counters.outputDeclined();
    log.note(reason, executorId, detail);
    publish(arena, files, new Declined(files.mapId(), executorId, reason));
  }

  private void publish(OutputArena arena, MapOutputFiles files, MapOutputLocation output) {
    int shuffleId = files.shuffleId();
    publisher.publish(shuffleId, output, () -> tooLate(shuffleId, arena));
  }

  /** Ends registration and deregisters everything. Idempotent. */
  @Override
  public void close() {
    threads.shutdownNow();
    arenas.values().forEach(OutputArena::close);
    arenas.clear();
  }
}
