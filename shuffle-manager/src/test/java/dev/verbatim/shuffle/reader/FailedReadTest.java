package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.atMost;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.CapturedLog;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import dev.verbatim.transport.ReadFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.SimpleDownloadFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of the blocks of a request when something fails in the middle of it. */
class FailedReadTest {
  private static final int LARGE = (int) PieceBatches.BATCH_BYTES;

  private final FakePeer peer = new FakePeer();
  private final ShuffleCounters counters = spy(new ShuffleCounters());
  private final BlockStoreClient stock = mock(BlockStoreClient.class);
  private final Map<Long, MapOutputLocation> outputs = new HashMap<>();
  private final Map<String, byte[]> expected = new TreeMap<>();
  private final Set<String> byRdma = new TreeSet<>();
  private final Set<String> byTcp = new TreeSet<>();
  private final List<String> failed = new ArrayList<>();

  /** Blocks that Spark's fetcher throws for. */
  private final Set<String> indigestible = new TreeSet<>();

  private Executor workers = Runnable::run;
  private Located answer = new Located(FakePeer.ON, outputs, FallbackReason.RECORD_MISSING);

  private final BlockFetchingListener listener =
      new BlockFetchingListener() {
        @Override
        public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
          data.retain();
          try {
            if (indigestible.contains(blockId)) {
              throw new OutOfMemoryError("test");
            }
            byte[] bytes = data.createInputStream().readAllBytes();
            boolean read = bytes.length > 0;
            if (read) {
              assertArrayEquals(expected.get(blockId), bytes);
            }
            assertTrue((read ? byRdma : byTcp).add(blockId), "once");
          } catch (IOException e) {
            throw new AssertionError(e);
          } finally {
            data.release();
          }
        }

        @Override
        public void onBlockFetchFailure(String blockId, Throwable cause) {
          failed.add(blockId);
          if (indigestible.contains(blockId)) {
            throw new IllegalStateException(cause);
          }
        }
      };

  @BeforeEach
  void serveEmptyBlocksByTcp() {
    doAnswer(
            call -> {
              for (String id : call.<String[]>getArgument(3)) {
                call.<BlockFetchingListener>getArgument(4)
                    .onBlockFetchSuccess(id, new NioManagedBuffer(ByteBuffer.allocate(0)));
              }
              return null;
            })
        .when(stock)
        .fetchBlocks(anyString(), anyInt(), anyString(), any(), any(), any());
  }

  @AfterEach
  void allBuffersAreBackAndAllBlocksSettledOnce() {
    peer.close();
    assertEquals(0, peer.references.get(), "every buffer must be released");
    List<String> settled = new ArrayList<>(failed);
    settled.addAll(byRdma);
    settled.addAll(byTcp);
    assertEquals(List.copyOf(expected.keySet()), settled.stream().sorted().toList());
    assertEquals(byRdma.size(), counters.snapshot().blocksByRdma());
  }

  /** A map output; its blocks are asked for by {@link #fetch}. */
  private Registered output(long mapId, int... partitions) {
    FakePeer.Output output = peer.output(mapId, 1 << 30, partitions);
    for (int i = 0; i < partitions.length; i++) {
      expected.put("shuffle_3_" + mapId + "_" + i, output.partition(i));
    }
    outputs.put(mapId, output.location());
    return output.location();
  }

  private void fetch(DownloadFileManager files) {
    FetchContext context =
        peer.context(
            () -> answer, stock, counters, action -> workers.execute(action), Runnable::run);
    new RdmaBlockStoreClient(context, peer.partitions)
        .fetchBlocks("host", 1, "1", expected.keySet().toArray(String[]::new), listener, files);
  }

  private void fail(int batch, ReadFailure.Kind kind) {
    peer.failures = number -> number == batch ? new ReadFailure(kind, "test") : null;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void shouldReadAgainWhenTheConnectionWentDownUnderABatch(int batch) {
    output(10, 100, LARGE, LARGE, LARGE);
    fail(batch, ReadFailure.Kind.DISCONNECTED);

    fetch(null);

    assertEquals(4, byRdma.size());
  }

  @Test
  void shouldLeaveOnlyTheBlocksOfTheFailedBatchToTcp() {
    output(10, 100, LARGE, LARGE, LARGE);
    fail(2, ReadFailure.Kind.OTHER);

    fetch(null);

    assertEquals(Set.of("shuffle_3_10_1", "shuffle_3_10_2"), byTcp);
    assertEquals(Set.of("shuffle_3_10_0", "shuffle_3_10_3"), byRdma);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldLeaveOnlyTheMapOutputToTcpWhoseKeysAreStale(boolean index) {
    output(10, 100, 200);
    Registered removed = output(11, 300, 400);
    output(12, 500, 600);
    peer.stale.add(index ? removed.index().rkey() : removed.regions().getFirst().rkey());

    fetch(null);

    assertEquals(Set.of("shuffle_3_11_0", "shuffle_3_11_1"), byTcp);
    assertEquals(4, byRdma.size());
    assertEquals(Map.of(FallbackReason.READ_FAILED, 2L), counters.snapshot().fallbacks());
  }

  @Test
  void shouldTryABoundedNumberOfTimesWhenAllKeysAreStale() {
    for (int mapId = 10; mapId < 30; mapId++) {
      peer.stale.add(output(mapId, 100).index().rkey());
    }

    fetch(null);

    assertEquals(20, byTcp.size());
    verify(peer.transport, atMost(1 + 1 + 20)).connect(any());
    assertTrue(peer.posted.size() <= 1 + 20 + 20, () -> peer.posted.size() + " batches");
  }

  @Test
  void shouldGiveUpWhenEveryConnectionGoesDown() {
    output(10, 100, 200);
    peer.failures = number -> new ReadFailure(ReadFailure.Kind.DISCONNECTED, "test");

    fetch(null);

    assertEquals(2, byTcp.size());
    assertEquals(FetchAttempt.MOST_ATTEMPTS, peer.posted.size());
  }

  @Test
  void shouldLeaveTheRestToTcpWhenThePeerIsSilent() {
    output(10, 100, LARGE, LARGE, LARGE);
    fail(2, ReadFailure.Kind.PEER_UNREACHABLE);

    fetch(null);

    assertEquals(Set.of("shuffle_3_10_0"), byRdma);
    assertEquals(3, byTcp.size());
  }

  @Test
  void shouldReadTheOthersToDiskWhenTheKeysOfOneMapOutputAreStale(@TempDir Path folder) {
    output(10, 100);
    peer.stale.add(output(11, LARGE).regions().getFirst().rkey());
    output(12, LARGE, 100);
    DownloadFileManager files = mock(DownloadFileManager.class);
    when(files.registerTempFileToClean(any())).thenReturn(true);
    when(files.createTempFile(any()))
        .thenAnswer(
            call ->
                new SimpleDownloadFile(
                    Files.createTempFile(folder, "block", "").toFile(), call.getArgument(0)));

    fetch(files);

    assertEquals(Set.of("shuffle_3_11_0"), byTcp);
    assertEquals(3, byRdma.size());
    assertEquals(3, folder.toFile().list().length);
  }

  @Test
  void shouldGoOnWithTheOtherBlocksWhenSparksFetcherThrows() {
    output(10, 100, 200, LARGE + 5, 300, LARGE);
    indigestible.addAll(List.of("shuffle_3_10_0", "shuffle_3_10_2"));

    fetch(null);

    assertEquals(List.of("shuffle_3_10_0", "shuffle_3_10_2"), failed);
    assertEquals(3, byRdma.size());
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 4, 5})
  void shouldReleaseTheBuffersWhenNoThreadTakesTheEndOfARead(int lastThread) {
    output(10, 100, LARGE, LARGE);
    int[] threads = {0};
    workers =
        action -> {
          if (threads[0]++ >= lastThread) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          action.run();
        };

    fetch(null);
  }

  /**
   * Errors, memory that is used up above all, where a batch ends: the first is of index entries.
   */
  @ParameterizedTest
  @ValueSource(ints = {-1, 1, 2, 3})
  void shouldGoOnWithTheOtherBatchesWhenTheEndOfSomeThrows(int failing) {
    output(10, LARGE, LARGE, LARGE, LARGE, LARGE);
    fail(failing, ReadFailure.Kind.DISCONNECTED);
    peer.badReleases = nth -> nth > 1 && nth < 8;

    fetch(null);
  }

  @Test
  void shouldGoOnWithTheOtherBatchesWhenLeavingSomeToTcpThrows() {
    output(10, LARGE, LARGE, LARGE, LARGE, LARGE);
    fail(1, ReadFailure.Kind.OTHER);
    doThrow(new InternalError("test")).when(counters).fallback(any(), anyLong());

    fetch(null);
  }

  @Test
  void shouldTellEachBlockOnceWhenTheStockClientThrowsAfterSomeHaveArrived() {
    output(10, 100, 200);
    answer = new Located(new PeerState.Off("1", "test"), outputs, FallbackReason.RECORD_MISSING);
    doAnswer(
            call -> {
              BlockFetchingListener told = call.getArgument(4);
              told.onBlockFetchSuccess(
                  "shuffle_3_10_0", new NioManagedBuffer(ByteBuffer.allocate(0)));
              throw new IllegalStateException("stopped");
            })
        .when(stock)
        .fetchBlocks(anyString(), anyInt(), anyString(), any(), any(), any());
    fetch(null);

    assertEquals(Set.of("shuffle_3_10_0"), byTcp);
    assertEquals(List.of("shuffle_3_10_1"), failed);
  }

  @Test
  void shouldWarnOnceWhenManyFetchesFail() {
    output(10, 100);
    answer = null;

    try (CapturedLog log = new CapturedLog(RdmaFetch.class)) {
      for (int i = 0; i < 20; i++) {
        byTcp.clear();
        fetch(null);
      }
      assertTrue(log.lines().size() <= 1, () -> log.lines().toString());
    }
  }
}
