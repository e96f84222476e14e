package dev.verbatim.shuffle.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.transport.MemoryRegion;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is left of a shuffle that is removed, or computed again. */
class OutputRemovalTest extends OutputRegistrarFixture {
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
  void shouldCloseTheArenaWhenNoThreadCanBeMadeForIt() throws Exception {
    OutputRegistrar registrar = registrar();
    submit(registrar, files(10, random(100), 0, 100));
    threads.outOfMemory = true;

    registrar.remove(5);

    assertEquals(0, budget.used());
  }
}
