package dev.verbatim.shuffle.writer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.RegistrationException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How slabs and the budget are used. */
class OutputArenaTest extends OutputRegistrarFixture {
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
}
