package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.isA;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.CapturedLog;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import dev.verbatim.transport.PeerAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class MapOutputTablesTest {
  private static final PeerState ON =
      new PeerState.On(new PeerAddress("1", new InetSocketAddress("10.0.0.1", 7), 9));

  private final DriverLink driver = mock(DriverLink.class);
  private long now = 1;
  private final MapOutputTables tables = new MapOutputTables(driver, () -> now);

  private static Table table(boolean more, PeerState peer, long... mapIds) {
    List<MapOutputLocation> outputs =
        LongStream.of(mapIds)
            .mapToObj(
                id -> (MapOutputLocation) new Declined(id, "1", FallbackReason.BUDGET_REACHED))
            .toList();
    return new Table(false, mapIds.length, more, List.of(peer), outputs);
  }

  private Located locate(long... mapIds) {
    CompletableFuture<Located> answer = tables.locate(5, "1", mapIds);
    assertTrue(answer.isDone());
    return answer.join();
  }

  private void synced(Table first, Table... next) {
    CompletableFuture<Table>[] rest = futures(next);
    when(driver.askTable(isA(Sync.class)))
        .thenReturn(CompletableFuture.completedFuture(first), rest);
  }

  @SuppressWarnings("unchecked") // an array of futures for Mockito's varargs
  private static CompletableFuture<Table>[] futures(Table... tables) {
    return List.of(tables).stream()
        .map(CompletableFuture::completedFuture)
        .toArray(CompletableFuture[]::new);
  }

  private void awaited(Table answer) {
    when(driver.askTable(isA(Await.class))).thenReturn(CompletableFuture.completedFuture(answer));
  }

  @Test
  void shouldFetchTheTableOnceWhenSeveralReadersAsk() {
    synced(table(true, ON, 1, 2), table(false, ON, 3));

    assertEquals(Set.of(1L, 3L), locate(1, 3).outputs().keySet());
    assertEquals(Set.of(2L), locate(2).outputs().keySet());

    verify(driver, times(2)).askTable(isA(Sync.class));
    verify(driver, never()).askTable(isA(Await.class));
  }

  @Test
  void shouldNotAskForeverWhenTheTableDoesNotGrow() {
    Table stuck = new Table(false, 0, true, List.of(ON), List.of());
    when(driver.askTable(isA(Sync.class))).thenReturn(CompletableFuture.completedFuture(stuck));

    assertEquals(FallbackReason.REGISTRY_FAILED, locate(1).missing());
    verify(driver, times(1)).askTable(any());
  }

  @Test
  void shouldAskOnceMoreByNameWhenTheTableLacksARecord() {
    synced(table(false, ON, 1));
    awaited(table(false, ON, 2));

    assertEquals(Set.of(1L, 2L), locate(1, 2).outputs().keySet());
    verify(driver).askTable(isA(Await.class));
  }

  @Test
  void shouldNotAskAgainSoonWhenTheDriverHasNoRecord() {
    synced(table(false, ON, 1));
    awaited(table(false, ON));

    Located located = locate(2);
    locate(2);

    assertTrue(located.outputs().isEmpty());
    assertEquals(FallbackReason.RECORD_MISSING, located.missing());
    verify(driver, times(1)).askTable(isA(Await.class));
  }

  @Test
  void shouldNotAskForRecordsWhenThePeerHasRdmaOff() {
    synced(table(false, new PeerState.Off("1", "RDMA off: NO_DEVICE")));

    Located located = locate(2);

    assertEquals("RDMA off: NO_DEVICE", ((PeerState.Off) located.peer()).detail());
    verify(driver, never()).askTable(isA(Await.class));
  }

  /** Those who ask meanwhile go over TCP at once, and only one of them asks the driver. */
  @Test
  void shouldFindAPeerWhoseRdmaComesOnWithinABoundedTimeAndWithoutAStorm() {
    synced(table(false, new PeerState.Off("1", "it is not known to the driver's registry")));
    CompletableFuture<Table> held = new CompletableFuture<>();
    when(driver.askTable(isA(Await.class))).thenReturn(held);
    locate(2);
    now += MapOutputTables.RETRY_NANOS;
    locate(2);
    verify(driver, never()).askTable(isA(Await.class));

    now++;
    for (int i = 0; i < 100; i++) {
      assertInstanceOf(PeerState.Off.class, locate(2).peer());
    }
    verify(driver, times(1)).askTable(isA(Await.class));
    held.complete(table(false, ON, 2));

    Located located = locate(2);
    assertEquals(ON, located.peer());
    assertEquals(Set.of(2L), located.outputs().keySet());
    verify(driver, times(1)).askTable(isA(Sync.class));
    verify(driver, times(1)).askTable(isA(Await.class));
  }

  @Test
  void shouldNameThePeersReasonWhenTheRegistryFailsToTellWhetherItHasChanged() {
    synced(table(false, new PeerState.Off("1", "RDMA off: NO_DEVICE")));
    when(driver.askTable(isA(Await.class)))
        .thenReturn(CompletableFuture.failedFuture(new IllegalStateException("no driver")));
    locate(2);
    now += MapOutputTables.RETRY_NANOS + 1;
    locate(2);

    Located located = locate(2);

    verify(driver, times(1)).askTable(isA(Await.class));
    assertEquals("RDMA off: NO_DEVICE", ((PeerState.Off) located.peer()).detail());
    assertEquals(FallbackReason.RECORD_MISSING, located.missing(), "not the registry's fault");
  }

  @Test
  void shouldAnswerAndPauseWhenTheRegistryFails() {
    when(driver.askTable(any()))
        .thenReturn(CompletableFuture.failedFuture(new IllegalStateException("no driver")));

    Located located = locate(2);
    locate(2);

    assertEquals(FallbackReason.REGISTRY_FAILED, located.missing());
    assertInstanceOf(PeerState.Off.class, located.peer());
    verify(driver, times(1)).askTable(any());
  }

  @Test
  void shouldWaitWithoutBlockingWhenTheDriverHoldsTheAnswerBack() {
    synced(table(false, ON));
    CompletableFuture<Table> held = new CompletableFuture<>();
    when(driver.askTable(isA(Await.class))).thenReturn(held);

    CompletableFuture<Located> answer = tables.locate(5, "1", new long[] {2});
    assertFalse(answer.isDone());
    held.complete(table(false, ON, 2));

    assertEquals(Set.of(2L), answer.join().outputs().keySet());
  }

  @Test
  void shouldFetchTheTableAgainWhenTheShuffleWasRemoved() {
    synced(table(false, ON, 1), table(false, ON, 1));
    locate(1);

    tables.remove(5);
    locate(1);

    verify(driver, times(2)).askTable(isA(Sync.class));
  }

  @Test
  void shouldKeepNothingWhenATaskOfARemovedShuffleAsks() {
    Table gone = new Table(true, 0, false, List.of(ON), List.of());
    synced(gone);
    awaited(gone);

    Located located = locate(1);

    assertTrue(located.outputs().isEmpty());
    assertEquals(0, tables.size());
  }

  @Test
  void shouldWarnOnceWhenTheRegistryFailsForManyShuffles() {
    when(driver.askTable(any()))
        .thenReturn(CompletableFuture.failedFuture(new IllegalStateException("no driver")));

    try (CapturedLog log = new CapturedLog(MapOutputTables.class)) {
      for (int shuffleId = 100; shuffleId < 200; shuffleId++) {
        tables.locate(shuffleId, "1", new long[] {1});
      }

      assertTrue(log.lines().size() <= 1, () -> log.lines().toString());
    }
  }
}
