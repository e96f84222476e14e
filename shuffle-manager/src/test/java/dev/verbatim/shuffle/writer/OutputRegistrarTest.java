package dev.verbatim.shuffle.writer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

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
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class OutputRegistrarTest {
  private static final long MIB = 1 << 20;

  @TempDir Path folder;

  private final RdmaTransport transport = mock(RdmaTransport.class);
  private final OutputPublisher publisher = mock(OutputPublisher.class);
  private final ShuffleCounters counters = new ShuffleCounters();
  private final List<MemoryRegion> slabs = new ArrayList<>();
  private final List<MapOutputLocation> published = new ArrayList<>();
  private final List<Runnable> tooLate = new ArrayList<>();
  private final Direct threads = new Direct();
  private RegistrationBudget budget = new RegistrationBudget(64 * MIB);
  private FilePinMode mode = FilePinMode.READ_ONLY_MAPPING;

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

  private MemoryRegion region(long length) {
    MemoryRegion region = mock(MemoryRegion.class);
    MemorySegment segment = Arena.ofAuto().allocate(length);
    when(region.length()).thenReturn(length);
    when(region.segment()).thenReturn(segment);
    when(region.iova()).thenReturn(0x1000_0000L * (1 + slabs.size()));
    when(region.rkey()).thenReturn(7 + slabs.size());
    return region;
  }

  private OutputRegistrar registrar() {
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

  private MapOutputFiles files(long mapId, byte[] data, long... offsets) throws IOException {
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

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private void submit(OutputRegistrar registrar, MapOutputFiles files) {
    registrar.submit(registrar.arena(5), files);
  }

  private byte[] at(RemoteAddress address, int length) {
    for (MemoryRegion slab : slabs) {
      if (slab.rkey() == address.rkey()) {
        return slab.segment()
            .asSlice(address.iova() - slab.iova(), length)
            .toArray(ValueLayout.JAVA_BYTE);
      }
    }
    throw new AssertionError("no slab of " + address);
  }

  private FallbackReason declined() {
    assertEquals(1, published.size());
    assertEquals(1, counters.snapshot().outputsDeclined());
    return assertInstanceOf(Declined.class, published.getFirst()).reason();
  }

  @Test
  void shouldCopyDataAndIndexIntoOneSlabWhenTheOutputIsSmall() throws Exception {
    byte[] data = random(1001);
    MapOutputFiles files = files(10, data, 0, 1, 1001);

    submit(registrar(), files);

    Registered output = assertInstanceOf(Registered.class, published.getFirst());
    assertArrayEquals(data, at(output.regions().getFirst(), 1001));
    assertArrayEquals(Files.readAllBytes(files.index()), at(output.index(), 24));
    assertEquals(0, output.index().iova() % 8);
    assertEquals(1001, output.dataLength());
    assertEquals(1, slabs.size());
    assertEquals(1, counters.snapshot().outputsRegistered());
  }

  @Test
  void shouldBoundTheNumberOfRegionsWhenThereAreManySmallOutputs() throws Exception {
    budget = new RegistrationBudget(1 << 30);
    OutputRegistrar registrar = registrar();
    for (int i = 0; i < 300; i++) {
      submit(registrar, files(i, random(10_000), 0, 10_000));
    }

    assertEquals(300, counters.snapshot().outputsRegistered());
    assertTrue(slabs.size() <= 8, slabs.size() + " slabs");
    assertEquals(
        slabs.stream().mapToLong(MemoryRegion::length).sum(),
        counters.snapshot().registeredBytes());
  }

  @Test
  void shouldRegisterTheFileInPlaceWhenItIsLarge() throws Exception {
    byte[] data = random((int) MIB + 1);
    MapOutputFiles files = files(10, data, 0, data.length);
    MemoryRegion one = region(MIB);
    MemoryRegion two = region(1);
    when(transport.registerFile(files.data(), data.length, FilePinMode.READ_ONLY_MAPPING))
        .thenReturn(List.of(one, two));

    submit(registrar(), files);

    Registered output = assertInstanceOf(Registered.class, published.getFirst());
    assertEquals(2, output.regions().size());
    assertEquals(MIB, output.regionLength());
    assertEquals(3, counters.snapshot().regions(), "two of the data and the slab of the index");
  }

  @Test
  void shouldCopyALargeFileWhenTheFolderCannotBePinned() throws Exception {
    mode = FilePinMode.COPY;
    byte[] data = random((int) MIB + 1);

    submit(registrar(), files(10, data, 0, data.length));

    Registered output = assertInstanceOf(Registered.class, published.getFirst());
    assertArrayEquals(data, at(output.regions().getFirst(), data.length));
    verify(transport, never()).registerFile(any(), anyLong(), any());
  }

  @Test
  void shouldDeclineWhenTheBudgetIsReached() throws Exception {
    budget = new RegistrationBudget(10);

    submit(registrar(), files(10, random(100), 0, 100));

    assertEquals(FallbackReason.BUDGET_REACHED, declined());
    assertEquals(0, budget.used());
  }

  @Test
  void shouldDeclineAndGiveTheBudgetBackWhenRegistrationFails() throws Exception {
    when(transport.registerFile(any(), anyLong(), any()))
        .thenThrow(new RegistrationException(RegistrationException.Kind.MEMLOCK, "ENOMEM"));
    byte[] data = random((int) MIB + 1);

    submit(registrar(), files(10, data, 0, data.length));

    assertEquals(FallbackReason.MEMLOCK, declined());
    assertEquals(
        slabs.getFirst().length(), budget.used(), "the slab for this and other index files");
  }

  @Test
  void shouldRegisterNoDataWhenThereIsNoRoomForItsIndex() throws Exception {
    byte[] data = random((int) MIB + 1);
    budget = new RegistrationBudget(data.length);
    when(transport.registerFile(any(), anyLong(), any()))
        .thenThrow(new RegistrationException(RegistrationException.Kind.DEVICE, "not asked for"));

    submit(registrar(), files(10, data, 0, 8, data.length));
    submit(registrar(), files(11, data, 0, 8, data.length));

    assertEquals(FallbackReason.BUDGET_REACHED, ((Declined) published.getLast()).reason());
    assertEquals(slabs.stream().mapToLong(MemoryRegion::length).sum(), budget.used());
    verify(transport, never()).registerFile(any(), anyLong(), any());
  }

  @Test
  void shouldDeclineWhenAnErrorIsThrown() throws Exception {
    when(transport.allocate(anyLong())).thenThrow(new NoClassDefFoundError("gone"));

    submit(registrar(), files(10, random(100), 0, 100));

    assertEquals(FallbackReason.DEVICE_ERROR, declined());
    assertEquals(0, budget.used());
  }

  @Test
  void shouldDeclineWhenIndexAndDataDoNotMatch() throws Exception {
    submit(registrar(), files(10, random(100), 0, 99));

    assertEquals(FallbackReason.FILE_UNREADABLE, declined());
  }

  @Test
  void shouldDeclineWhenTheDataIsNotInALocalFile() throws Exception {
    MapOutputFiles files = files(10, random(100), 0, 100);
    Files.delete(files.data());

    submit(registrar(), files);

    assertEquals(FallbackReason.FILE_UNREADABLE, declined());
  }

  @Test
  void shouldDeclineWhenTheQueueIsFull() throws Exception {
    threads.full = true;

    submit(registrar(), files(10, random(100), 0, 100));

    assertEquals(FallbackReason.REGISTRATION_BACKLOG, declined());
  }

  @Test
  void shouldPublishNothingWhenTheOutputIsEmpty() throws Exception {
    submit(registrar(), files(10, new byte[0], 0, 0, 0));

    assertTrue(published.isEmpty());
    verify(transport, never()).allocate(anyLong());
  }

  @Test
  void shouldCloseEveryRegionWhenTheShuffleIsRemoved() throws Exception {
    byte[] large = random((int) MIB + 1);
    MemoryRegion mapped = region(MIB + 1);
    when(transport.registerFile(any(), anyLong(), any())).thenReturn(List.of(mapped));
    OutputRegistrar registrar = registrar();
    submit(registrar, files(10, random(100), 0, 100));
    submit(registrar, files(11, large, 0, large.length));

    registrar.remove(5);
    registrar.close();

    verify(mapped, times(1)).close();
    verify(slabs.getFirst(), times(1)).close();
    assertEquals(0, budget.used());
    assertEquals(0, counters.snapshot().regions());
    assertEquals(0, counters.snapshot().registeredBytes());
  }

  @Test
  void shouldDeclineAndCloseWhenTheShuffleIsRemovedWhileItsMapTaskRuns() throws Exception {
    OutputRegistrar registrar = registrar();
    OutputArena arena = registrar.arena(5);
    MemoryRegion mapped = region(MIB + 1);
    when(transport.registerFile(any(), anyLong(), any()))
        .thenAnswer(
            call -> {
              registrar.remove(5);
              return List.of(mapped);
            });
    byte[] large = random((int) MIB + 1);

    registrar.submit(arena, files(10, large, 0, large.length));

    assertEquals(FallbackReason.SHUFFLE_REMOVED, declined());
    verify(mapped).close();
    assertEquals(0, budget.used());
  }

  @Test
  void shouldUseFreshMemoryWhenAShuffleComesAfterARemovedOne() throws Exception {
    OutputRegistrar registrar = registrar();
    submit(registrar, files(10, random(100), 0, 100));
    registrar.remove(5);
    submit(registrar, files(11, random(100), 0, 100));

    assertEquals(2, slabs.size());
    verify(slabs.getLast(), never()).close();
  }

  @Test
  void shouldTakeEverythingBackWhenAMapTaskBeganAfterItsShuffleWasRemoved() throws Exception {
    OutputRegistrar registrar = registrar();
    registrar.remove(5);
    submit(registrar, files(10, random(100), 0, 100));
    OutputArena arena = registrar.arena(5);

    tooLate.forEach(Runnable::run);
    tooLate.forEach(Runnable::run);

    verify(slabs.getFirst(), times(1)).close();
    assertEquals(0, budget.used());
    assertEquals(0, counters.snapshot().regions());
    assertEquals(0, counters.snapshot().registeredBytes());
    assertNotSame(arena, registrar.arena(5), "the arena itself is forgotten too");
  }

  @Test
  void shouldKeepTheArenaOfARecomputedShuffleWhenARecordOfTheOldOneWasTooLate() throws Exception {
    OutputRegistrar registrar = registrar();
    OutputArena old = registrar.arena(5);
    registrar.remove(5);
    registrar.submit(old, files(10, random(100), 0, 100));
    submit(registrar, files(11, random(100), 0, 100));

    tooLate.getFirst().run();

    assertInstanceOf(Declined.class, published.getFirst());
    assertInstanceOf(Registered.class, published.getLast());
    verify(slabs.getFirst(), never()).close();
  }

  @Test
  void shouldUseWhatIsLeftOfTheBudgetWhenTheOutputFitsIntoIt() throws Exception {
    budget = new RegistrationBudget(OutputArena.SMALLEST_SLAB + 20_000);
    OutputRegistrar registrar = registrar();
    submit(registrar, files(10, random(250_000), 0, 250_000));
    submit(registrar, files(11, random(15_000), 0, 15_000));
    submit(registrar, files(12, random(15_000), 0, 15_000));

    assertEquals(2, counters.snapshot().outputsRegistered());
    assertEquals(20_000, slabs.getLast().length());
    assertEquals(FallbackReason.BUDGET_REACHED, ((Declined) published.getLast()).reason());
  }

  @Test
  @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void shouldNotBlockOtherOutputsOfTheShuffleWhenALargeFileIsCopied() throws Exception {
    OutputRegistrar registrar = registrar();
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    FileChannel slow = mock(FileChannel.class);
    when(slow.read(any(ByteBuffer.class), anyLong()))
        .thenAnswer(
            call -> {
              reading.countDown();
              goOn.await();
              ByteBuffer into = call.getArgument(0);
              int bytes = into.remaining();
              into.position(into.limit());
              return bytes;
            });
    OutputArena arena = registrar.arena(5);
    FutureTask<RemoteAddress> copy = new FutureTask<>(() -> arena.copy(slow, 8 * MIB));
    Thread.ofPlatform().start(copy);
    reading.await();

    submit(registrar, files(11, random(100), 0, 100));
    assertInstanceOf(Registered.class, published.getFirst());

    Thread closing = Thread.ofPlatform().start(arena::close);
    while (closing.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    verify(slabs.getFirst(), never()).close();
    closing.interrupt();
    goOn.countDown();

    assertInstanceOf(
        DeclinedException.class, assertThrows(ExecutionException.class, copy::get).getCause());
    closing.join();
    verify(slabs.getFirst()).close();
    assertEquals(0, budget.used());
  }

  @Test
  void shouldGiveAFileLargerThanASlabARegionOfItsOwn() throws Exception {
    mode = FilePinMode.COPY;
    byte[] data = random((int) OutputArena.LARGEST_SLAB + 1);
    OutputRegistrar registrar = registrar();

    submit(registrar, files(10, data, 0, data.length));
    submit(registrar, files(11, random(100), 0, 100));

    Registered output = assertInstanceOf(Registered.class, published.getFirst());
    assertArrayEquals(data, at(output.regions().getFirst(), data.length));
    assertEquals(2, slabs.size(), "the slab before it goes on being filled");
    registrar.remove(5);
    assertEquals(0, budget.used());
    assertEquals(0, counters.snapshot().regions());
  }

  @Test
  void shouldDeclineWhenNoThreadCanBeMade() throws Exception {
    threads.outOfMemory = true;

    submit(registrar(), files(10, random(100), 0, 100));

    assertEquals(FallbackReason.REGISTRATION_BACKLOG, declined());
  }

  @Test
  void shouldCloseTheArenaWhenNoThreadCanBeMadeForIt() throws Exception {
    OutputRegistrar registrar = registrar();
    submit(registrar, files(10, random(100), 0, 100));
    threads.outOfMemory = true;

    registrar.remove(5);

    assertEquals(0, budget.used());
  }

  /** Runs tasks on the caller's thread. */
  private static final class Direct extends AbstractExecutorService {
    private boolean full;
    private boolean outOfMemory;

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
