package dev.verbatim.shuffle.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.fallback.FallbackLog;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import dev.verbatim.shuffle.registry.OutputPublisher;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.RdmaTransport;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A registrar whose device is a mock that gives real memory, and whose threads are the caller. */
abstract class OutputRegistrarFixture {
  static final long MIB = 1 << 20;

  @TempDir Path folder;

  final RdmaTransport transport = mock(RdmaTransport.class);
  final OutputPublisher publisher = mock(OutputPublisher.class);
  final ShuffleCounters counters = new ShuffleCounters();
  final List<MemoryRegion> slabs = new ArrayList<>();
  final List<MapOutputLocation> published = new ArrayList<>();
  final List<Runnable> tooLate = new ArrayList<>();
  final Direct threads = new Direct();
  RegistrationBudget budget = new RegistrationBudget(64 * MIB);
  FilePinMode mode = FilePinMode.READ_ONLY_MAPPING;

  @BeforeEach
  void wire() throws Exception {
    when(transport.allocate(anyLong()))
        .thenAnswer(
            call -> {
              MemoryRegion slab = region(call.getArgument(0));
              slabs.add(slab);
              return slab;
            });
    doAnswer(
            call -> {
              published.add(call.getArgument(1));
              tooLate.add(call.getArgument(2));
              return null;
            })
        .when(publisher)
        .publish(anyInt(), any(), any());
  }

  MemoryRegion region(long length) {
    MemoryRegion region = mock(MemoryRegion.class);
    MemorySegment segment = Arena.ofAuto().allocate(length);
    when(region.length()).thenReturn(length);
    when(region.segment()).thenReturn(segment);
    when(region.iova()).thenReturn(0x1000_0000L * (1 + slabs.size()));
    when(region.rkey()).thenReturn(7 + slabs.size());
    return region;
  }

  OutputRegistrar registrar() {
    return new OutputRegistrar(
        transport,
        publisher,
        "1",
        counters,
        new FallbackLog(),
        threads,
        budget,
        MIB,
        Map.of(folder, mode));
  }

  MapOutputFiles files(long mapId, byte[] data, long... offsets) throws IOException {
    Path dataFile = folder.resolve("shuffle_5_" + mapId + "_0.data");
    Path indexFile = folder.resolve("shuffle_5_" + mapId + "_0.index");
    if (data.length > 0) {
      Files.write(dataFile, data);
    }
    ByteBuffer index = ByteBuffer.allocate(offsets.length * Long.BYTES);
    index.asLongBuffer().put(offsets);
    Files.write(indexFile, index.array());
    return new MapOutputFiles(5, mapId, dataFile, indexFile);
  }

  static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  void submit(OutputRegistrar registrar, MapOutputFiles files) {
    registrar.submit(registrar.arena(5), files);
  }

  byte[] at(RemoteAddress address, int length) {
    for (MemoryRegion slab : slabs) {
      if (slab.rkey() == address.rkey()) {
        return slab.segment()
            .asSlice(address.iova() - slab.iova(), length)
            .toArray(ValueLayout.JAVA_BYTE);
      }
    }
    throw new AssertionError("no slab of " + address);
  }

  FallbackReason declined() {
    assertEquals(1, published.size());
    assertEquals(1, counters.snapshot().outputsDeclined());
    return assertInstanceOf(Declined.class, published.getFirst()).reason();
  }

  /** Runs tasks on the caller's thread. */
  static final class Direct extends AbstractExecutorService {
    boolean full;
    boolean outOfMemory;

    @Override
    public void execute(Runnable task) {
      if (full) {
        throw new RejectedExecutionException();
      }
      if (outOfMemory) {
        throw new OutOfMemoryError("unable to create native thread");
      }
      task.run();
    }

    @Override
    public void shutdown() {}

    @Override
    public List<Runnable> shutdownNow() {
      return List.of();
    }

    @Override
    public boolean isShutdown() {
      return false;
    }

    @Override
    public boolean isTerminated() {
      return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return true;
    }
  }
}
