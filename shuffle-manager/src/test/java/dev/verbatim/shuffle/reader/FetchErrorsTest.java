package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mockConstruction;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import dev.verbatim.transport.ReadFailure;
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.MockedConstruction;

/**
 * Errors, memory that is used up above all, in the middle of a fetch: every block is told of, or
 * the task would wait for ever, and every buffer comes back.
 */
class FetchErrorsTest extends BlockStoreClientFixture {
  private static final int LARGE = (int) PieceBatches.BATCH_BYTES;

  /** Not an OutOfMemoryError, which JUnit takes for its own. */
  private static final Error ERROR = new InternalError("test");

  private void leaveAllToTcp() {
    answer = new Located(new PeerState.Off("1", "test"), Map.of(), FallbackReason.RECORD_MISSING);
  }

  @Test
  void shouldLeaveTheRestToTcpWhenThereIsNoMemoryForWhatABatchHasBrought() {
    output(10, 1 << 30, LARGE, LARGE, LARGE, LARGE, LARGE);
    String[] ids = {
      "shuffle_3_10_0", "shuffle_3_10_1", "shuffle_3_10_2", "shuffle_3_10_3", "shuffle_3_10_4"
    };

    try (MockedConstruction<Arrivals> _ =
        mockConstruction(
            Arrivals.class,
            (mock, context) -> {
              throw new OutOfMemoryError("test");
            })) {
      fetch(ids);
    }

    assertOnlyFallback(FallbackReason.READ_FAILED, ids);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldReleaseTheBufferOfIndexEntriesWhenTheirEndThrows(boolean readFails) {
    output(10, 1 << 30, 5, 7);
    if (readFails) {
      peer.failures =
          number -> number == 0 ? new ReadFailure(ReadFailure.Kind.DISCONNECTED, "test") : null;
    } else {
      doThrow(ERROR).when(peer.indexes).keep(any(), any());
    }
    doThrow(ERROR).doCallRealMethod().when(peer.indexes).drop(any());

    fetch("shuffle_3_10_0");

    assertOnlyFallback(FallbackReason.READ_FAILED, "shuffle_3_10_0");
  }

  @Test
  void shouldTellOfBlocksThatCameByRdmaWhenCountingThemThrows() {
    byte[] data = output(10, 1 << 30, 5, 7);
    doAnswer(
            call -> {
              call.callRealMethod();
              throw ERROR;
            })
        .when(counters)
        .blockByRdma(anyLong());

    fetch("shuffle_3_10_0", "shuffle_3_10_1");

    assertArrayEquals(part(data, 0, 5), delivered.get("shuffle_3_10_0"));
    assertArrayEquals(part(data, 5, 12), delivered.get("shuffle_3_10_1"));
    assertEquals(List.of(), stockCalls);
  }

  @Test
  void shouldTellOfBlocksThatCameByTcpWhenCountingThemThrows() {
    leaveAllToTcp();
    doThrow(ERROR).when(counters).blockByTcp(anyLong());

    fetch("shuffle_3_10_0", "shuffle_3_10_1");

    assertEquals(Set.of("shuffle_3_10_0"), delivered.keySet());
    assertEquals(Map.of("shuffle_3_10_1", ERROR), failed, "the stock client goes no further");
  }

  @Test
  void shouldUseTcpWhenThePoolOfThreadsThrowsAnError() {
    leaveAllToTcp();
    client =
        client(
            Runnable::run,
            action -> {
              throw ERROR;
            });

    fetch("shuffle_3_10_0");

    assertOnlyFallback(FallbackReason.PEER_WITHOUT_RDMA, "shuffle_3_10_0");
  }

  /** As a pool does that has taken a task and then finds no thread for it. */
  @Test
  void shouldFetchOnceWhenThePoolOfThreadsQueuesAndThrows() {
    leaveAllToTcp();
    List<Runnable> queued = new ArrayList<>();
    client =
        client(
            Runnable::run,
            action -> {
              queued.add(action);
              throw new OutOfMemoryError("unable to create native thread");
            });

    fetch("shuffle_3_10_0");
    queued.forEach(Runnable::run);

    assertOnlyFallback(FallbackReason.PEER_WITHOUT_RDMA, "shuffle_3_10_0");
  }

  @Test
  void shouldTellTheTaskWhenThereIsNoMemoryForTcpEither() {
    ShuffleBlock block = ShuffleBlock.parse("shuffle_3_10_0").orElseThrow();
    Collection<ShuffleBlock> noRoom =
        new AbstractCollection<>() {
          @Override
          public Iterator<ShuffleBlock> iterator() {
            return List.of(block).iterator();
          }

          @Override
          public int size() {
            throw ERROR;
          }
        };
    BlockReceiver receiver = new BlockReceiver(listener, "1");
    TcpFetch tcp = new TcpFetch(stock, counters, "host", 7337, "1", receiver, null);
    FetchContext context =
        peer.context(() -> answer, stock, counters, Runnable::run, Runnable::run);

    new RdmaFetch(context, tcp, List.of(block), new DeliveredBlocks(), Long.BYTES)
        .fallback(noRoom, FallbackReason.READ_FAILED, "test");

    assertEquals(Map.of("shuffle_3_10_0", ERROR), failed);
    assertEquals(List.of(), stockCalls);
  }
}
