package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import dev.verbatim.transport.ConnectException;
import dev.verbatim.transport.ReadFailure;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks that cannot come by RDMA: how they come all the same, and what is said. */
class FetchFallbackTest extends BlockStoreClientFixture {
  @Test
  void shouldUseTcpWhenSparkAsksAgainForABlockThatCameByRdma() {
    byte[] data = output(10, 1 << 20, 5, 7);
    fetch("shuffle_3_10_0");
    delivered.clear();

    fetch("shuffle_3_10_0", "shuffle_3_10_1");

    assertOnlyFallback(FallbackReason.BLOCK_CORRUPT, "shuffle_3_10_0");
    assertArrayEquals(part(data, 5, 12), delivered.get("shuffle_3_10_1"));
    assertEquals(2, counters.snapshot().blocksByRdma());
  }

  @ParameterizedTest
  @EnumSource
  void shouldUseTcpWhenTheIndexCannotBeRead(ReadFailure.Kind kind) {
    output(10, 1 << 20, 5);
    peer.failures = number -> new ReadFailure(kind, "test");

    fetch("shuffle_3_10_0");

    assertOnlyFallback(FallbackReason.of(kind), "shuffle_3_10_0");
  }

  @Test
  void shouldUseTcpForThatBlockOnlyWhenItsRecordIsMissing() {
    output(10, 1 << 20, 5);

    fetch("shuffle_3_10_0", "shuffle_3_99_0");

    assertOnlyFallback(FallbackReason.RECORD_MISSING, "shuffle_3_99_0");
    assertEquals(1, counters.snapshot().blocksByRdma());
  }

  @Test
  void shouldNameTheMappersReasonWhenAMapOutputWasDeclined() {
    outputs.put(10L, new Declined(10, "1", FallbackReason.BUDGET_REACHED));

    fetch("shuffle_3_10_0");

    assertOnlyFallback(FallbackReason.BUDGET_REACHED, "shuffle_3_10_0");
  }

  @Test
  void shouldUseTcpWhenTheMapOutputHasMovedToAnotherExecutor() {
    outputs.put(10L, peer.register(10, "2", new byte[5], new long[] {0, 5}, 5));

    fetch("shuffle_3_10_0");

    assertOnlyFallback(FallbackReason.OUTPUT_MOVED, "shuffle_3_10_0");
  }

  @Test
  void shouldUseTcpWhenThePeerHasRdmaOff() {
    answer =
        new Located(new PeerState.Off("1", "NO_DEVICE"), outputs, FallbackReason.RECORD_MISSING);

    fetch("shuffle_3_10_0", "shuffle_3_10_1");

    assertOnlyFallback(FallbackReason.PEER_WITHOUT_RDMA, "shuffle_3_10_0", "shuffle_3_10_1");
  }

  @Test
  void shouldUseTcpWhenThePeerCannotBeConnected() {
    output(10, 1 << 20, 5);
    when(peer.transport.connect(any()))
        .thenReturn(CompletableFuture.failedFuture(new ConnectException("REJECTED")));

    fetch("shuffle_3_10_0");

    assertOnlyFallback(FallbackReason.CONNECTION_FAILED, "shuffle_3_10_0");
  }

  @Test
  void shouldUseTcpAtOnceWhenThePortIsNotActiveAndRdmaAfterwards() {
    byte[] data = output(10, 1 << 20, 5);
    when(peer.transport.portActive()).thenReturn(false);

    fetch("shuffle_3_10_0");
    assertOnlyFallback(FallbackReason.PORT_NOT_ACTIVE, "shuffle_3_10_0");
    assertTrue(peer.posted.isEmpty());

    delivered.clear();
    when(peer.transport.portActive()).thenReturn(true);
    fetch("shuffle_3_10_0");
    assertArrayEquals(data, delivered.get("shuffle_3_10_0"));
  }

  @Test
  void shouldNameTheDeviceWhenItIsLost() {
    output(10, 1 << 20, 5);
    when(peer.transport.portActive()).thenReturn(false);
    when(peer.transport.deviceFailure()).thenReturn(Optional.of("IBV_EVENT_DEVICE_FATAL"));

    fetch("shuffle_3_10_0");

    assertOnlyFallback(FallbackReason.DEVICE_ERROR, "shuffle_3_10_0");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void shouldUseTcpWhenThePoolIsExhausted(int buffers) {
    output(10, 1 << 20, 5);
    peer.buffers = buffers;

    fetch("shuffle_3_10_0");

    assertOnlyFallback(FallbackReason.POOL_EXHAUSTED, "shuffle_3_10_0");
  }

  @Test
  void shouldUseTcpAndReleaseTheBufferWhenNoBatchCanBeMade() {
    output(10, 1 << 20, 5);
    peer.noBatches = true;

    fetch("shuffle_3_10_0");

    assertOnlyFallback(FallbackReason.READ_FAILED, "shuffle_3_10_0");
    assertEquals(0, peer.indexes.bytes(), "another task may READ the index");
  }

  @Test
  void shouldUseTcpWhenTheIndexIsNotPlausible() {
    outputs.put(10L, peer.register(10, "1", new byte[5], new long[] {0, 0, 9, -1, 4}, 5));

    fetch("shuffle_3_10_0", "shuffle_3_10_1", "shuffle_3_10_2", "shuffle_3_10_3");

    assertOnlyFallback(
        FallbackReason.INDEX_INVALID,
        "shuffle_3_10_0",
        "shuffle_3_10_1",
        "shuffle_3_10_2",
        "shuffle_3_10_3");
  }

  @Test
  void shouldForwardWhenBlocksAreNotOfAMapOutput() {
    fetch("rdd_1_2", "shuffleChunk_1_2_3_4");

    assertEquals(List.of(List.of("rdd_1_2", "shuffleChunk_1_2_3_4")), stockCalls);
    assertTrue(counters.snapshot().fallbacks().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldUseTcpWhenNoThreadCanBeMade(boolean forWorkers) {
    Executor none =
        action -> {
          throw new OutOfMemoryError("unable to create native thread");
        };
    answer =
        new Located(new PeerState.Off("1", "has none"), Map.of(), FallbackReason.RECORD_MISSING);
    client = forWorkers ? client(none, Runnable::run) : client(Runnable::run, none);

    fetch("shuffle_3_10_0");

    assertOnlyFallback(
        forWorkers ? FallbackReason.READ_FAILED : FallbackReason.PEER_WITHOUT_RDMA,
        "shuffle_3_10_0");
  }

  static Stream<Throwable> failures() {
    return Stream.of(
        new IllegalStateException("stopped"),
        new TimeoutException("thrown by Scala, which does not declare it"),
        new NoClassDefFoundError("gone"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void shouldReportFailureWhenTcpFailsToo(Throwable thrown) {
    doAnswer(
            call -> {
              throw thrown;
            })
        .when(stock)
        .fetchBlocks(anyString(), anyInt(), anyString(), any(), any(), any());

    fetch("shuffle_3_10_0");

    assertEquals(thrown, failed.get("shuffle_3_10_0"));
    assertTrue(delivered.isEmpty());
  }
}
