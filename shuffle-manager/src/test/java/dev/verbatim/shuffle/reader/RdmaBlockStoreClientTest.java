package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import dev.verbatim.transport.ConnectException;
import dev.verbatim.transport.ReadFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.SimpleDownloadFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RdmaBlockStoreClientTest {
  private static final byte[] STOCK = "by Spark's own transfer".getBytes();

  private final FakePeer peer = new FakePeer();
  private final ShuffleCounters counters = new ShuffleCounters();
  private final BlockStoreClient stock = mock(BlockStoreClient.class);
  private final Map<Long, MapOutputLocation> outputs = new HashMap<>();
  private final List<List<String>> stockCalls = new ArrayList<>();
  private final Map<String, byte[]> delivered = new TreeMap<>();
  private final Map<String, Throwable> failed = new TreeMap<>();
  private Located answer = new Located(FakePeer.ON, outputs, FallbackReason.RECORD_MISSING);
  private RdmaBlockStoreClient client;
  private boolean taskIsOver;

  private final BlockFetchingListener listener =
      new BlockFetchingListener() {
        @Override
        public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
          if (taskIsOver) {
            return;
          }
          data.retain();
          try {
            byte[] bytes = data.createInputStream().readAllBytes();
            assertEquals(data.size(), bytes.length);
            assertEquals(null, delivered.put(blockId, bytes), "delivered once");
          } catch (IOException e) {
            throw new AssertionError(e);
          } finally {
            data.release();
          }
        }

        @Override
        public void onBlockFetchFailure(String blockId, Throwable cause) {
          failed.put(blockId, cause);
        }
      };

  @BeforeEach
  void wire() {
    doAnswer(
            call -> {
              String[] ids = call.getArgument(3);
              BlockFetchingListener told = call.getArgument(4);
              stockCalls.add(List.of(ids));
              for (String id : ids) {
                told.onBlockFetchSuccess(id, new NioManagedBuffer(ByteBuffer.wrap(STOCK)));
              }
              return null;
            })
        .when(stock)
        .fetchBlocks(anyString(), anyInt(), anyString(), any(), any(), any());
    client = client(Runnable::run, Runnable::run);
  }

  private RdmaBlockStoreClient client(Executor workers, Executor io) {
    return new RdmaBlockStoreClient(peer.context(() -> answer, stock, counters, workers, io));
  }

  @AfterEach
  void allBuffersAreBack() {
    peer.close();
    assertEquals(0, peer.references.get(), "every buffer must be released");
  }

  private void fetch(String... ids) {
    client.fetchBlocks("host", 7337, "1", ids, listener, null);
  }

  private byte[] output(long mapId, int regionLength, int... partitions) {
    FakePeer.Output output = peer.output(mapId, regionLength, partitions);
    outputs.put(mapId, output.location());
    return output.data();
  }

  private static byte[] part(byte[] data, int from, int to) {
    return java.util.Arrays.copyOfRange(data, from, to);
  }

  private void assertOnlyFallback(FallbackReason reason, String... ids) {
    CounterSnapshot counts = counters.snapshot();
    assertEquals(List.of(List.of(ids)), stockCalls, "one call of the stock client");
    assertEquals(Map.of(reason, (long) ids.length), counts.fallbacks());
    assertEquals(ids.length, counts.blocksByTcp());
    assertEquals((long) ids.length * STOCK.length, counts.bytesByTcp());
    for (String id : ids) {
      assertArrayEquals(STOCK, delivered.get(id));
    }
  }

  @Test
  void shouldReadExactBytesWhenBlocksAreOfSeveralMapOutputs() {
    byte[] one = output(10, 1 << 20, 5, 0, 1000);
    byte[] two = output(11, 1 << 20, 1, 2, 3);

    fetch("shuffle_3_10_0", "shuffle_3_10_2", "shuffle_3_11_1");

    assertArrayEquals(part(one, 0, 5), delivered.get("shuffle_3_10_0"));
    assertArrayEquals(part(one, 5, 1005), delivered.get("shuffle_3_10_2"));
    assertArrayEquals(part(two, 1, 3), delivered.get("shuffle_3_11_1"));
    assertEquals(3, counters.snapshot().blocksByRdma());
    assertEquals(1007, counters.snapshot().bytesByRdma());
    assertTrue(stockCalls.isEmpty());
    assertEquals(2, peer.posted.size(), "one batch for entries and one for data");
  }

  @Test
  void shouldNotCountABlockWhenItsTaskIsOver() {
    output(10, 1 << 20, 5);
    taskIsOver = true;

    fetch("shuffle_3_10_0");

    assertEquals(CounterSnapshot.ZERO, counters.snapshot());
  }

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

  /** Several batches, each with a block that its receiver gives back more often than it took it. */
  @Test
  void shouldDeliverAllBlocksWhenTheReceiverReleasesSomeTooOften() {
    int large = (int) PieceBatches.BATCH_BYTES - 1;
    byte[] data = output(10, 1 << 30, large, 1, large, 1, large, 1);
    BlockFetchingListener careless =
        new BlockFetchingListener() {
          @Override
          public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
            listener.onBlockFetchSuccess(blockId, buffer);
            if (buffer.size() > 1) {
              buffer.release();
            }
          }

          @Override
          public void onBlockFetchFailure(String blockId, Throwable cause) {
            listener.onBlockFetchFailure(blockId, cause);
          }
        };
    String[] ids = new String[6];
    java.util.Arrays.setAll(ids, i -> "shuffle_3_10_" + i);

    client.fetchBlocks("host", 7337, "1", ids, careless, null);

    assertEquals(6, delivered.size());
    assertArrayEquals(part(data, data.length - 1, data.length), delivered.get("shuffle_3_10_5"));
    assertTrue(stockCalls.isEmpty());
  }

  @Test
  void shouldReadBothEndsOfTheIndexWhenTheBlockIsABatch() {
    byte[] data = output(10, 1 << 20, 5, 7, 0, 9);

    fetch("shuffle_3_10_1_4");

    assertArrayEquals(part(data, 5, 21), delivered.get("shuffle_3_10_1_4"));
    assertEquals(2, peer.posted.getFirst().size());
  }

  @Test
  void shouldPostOneReadWhenBlocksOfOneMapOutputAreNeighbours() {
    output(10, 1 << 20, 5, 7, 9);

    fetch("shuffle_3_10_0", "shuffle_3_10_1", "shuffle_3_10_2");

    assertEquals(3, delivered.size());
    assertEquals(1, peer.posted.get(1).size());
    assertEquals(21, peer.posted.get(1).getFirst().length());
  }

  @ParameterizedTest
  @ValueSource(ints = {7, 64, 4096, 1 << 20})
  void shouldSplitReadsWhenABlockCrossesRegions(int regionLength) {
    byte[] data = output(10, regionLength, 100, 9000, 50);

    fetch("shuffle_3_10_1", "shuffle_3_10_2");

    assertArrayEquals(part(data, 100, 9100), delivered.get("shuffle_3_10_1"));
    assertArrayEquals(part(data, 9100, 9150), delivered.get("shuffle_3_10_2"));
  }

  @Test
  void shouldPutABlockTogetherWhenItIsLargerThanABatch() {
    int large = (int) PieceBatches.BATCH_BYTES * 2 + 12345;
    byte[] data = output(10, 3 << 20, 17, large, 40);

    fetch("shuffle_3_10_0", "shuffle_3_10_1", "shuffle_3_10_2");

    assertArrayEquals(part(data, 17, 17 + large), delivered.get("shuffle_3_10_1"));
    assertEquals(3, delivered.size());
    assertTrue(peer.posted.size() > 3);
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

  @Test
  void shouldWriteToDiskWhenSparkGivesAFileManager(@TempDir Path folder) {
    int large = 9 << 20;
    byte[] data = output(10, 1 << 30, 33, large);
    DownloadFileManager files = files(folder, true);

    client.fetchBlocks("host", 1, "1", new String[] {"shuffle_3_10_1"}, listener, files);

    assertArrayEquals(part(data, 33, 33 + large), delivered.get("shuffle_3_10_1"));
    assertEquals(large, counters.snapshot().bytesByRdma());
    verify(files).registerTempFileToClean(any());
    assertEquals(1, folder.toFile().list().length);
  }

  @Test
  void shouldUseTcpWhenSparkAsksAgainForABlockThatCameToDisk(@TempDir Path folder) {
    output(10, 1 << 30, 33);
    DownloadFileManager files = files(folder, true);
    String[] ids = {"shuffle_3_10_0"};
    client.fetchBlocks("host", 1, "1", ids, listener, files);
    delivered.clear();

    client.fetchBlocks("host", 1, "1", ids, listener, files);

    assertOnlyFallback(FallbackReason.BLOCK_CORRUPT, ids);
  }

  @Test
  void shouldDeleteTheFileWhenSparkDoesNotKeepIt(@TempDir Path folder) {
    output(10, 1 << 30, 33);

    client.fetchBlocks(
        "host", 1, "1", new String[] {"shuffle_3_10_0"}, listener, files(folder, false));

    assertEquals(1, delivered.size());
    assertEquals(0, folder.toFile().list().length);
  }

  @Test
  void shouldUseTcpAndDeleteTheFileWhenAReadToDiskFails(@TempDir Path folder) {
    output(10, 1 << 30, 9 << 20);
    peer.failures =
        number -> number == 2 ? new ReadFailure(ReadFailure.Kind.DEADLINE, "10 s") : null;
    DownloadFileManager files = files(folder, true);

    client.fetchBlocks("host", 1, "1", new String[] {"shuffle_3_10_0"}, listener, files);

    assertOnlyFallback(FallbackReason.READ_FAILED, "shuffle_3_10_0");
    assertEquals(0, folder.toFile().list().length);
    verify(files, never()).registerTempFileToClean(any());
  }

  @Test
  void shouldUseTcpAndDeleteTheFileWhenAnErrorIsThrown() throws IOException {
    output(10, 1 << 30, 33);
    DownloadFile file = mock(DownloadFile.class);
    DownloadFileManager files = mock(DownloadFileManager.class);
    when(files.createTempFile(any())).thenReturn(file);
    when(file.openForWriting())
        .thenAnswer(
            call -> {
              throw new NoClassDefFoundError("gone");
            });

    client.fetchBlocks("host", 1, "1", new String[] {"shuffle_3_10_0"}, listener, files);

    assertOnlyFallback(FallbackReason.DOWNLOAD_FAILED, "shuffle_3_10_0");
    verify(file).delete();
  }

  private DownloadFileManager files(Path folder, boolean keep) {
    DownloadFileManager files = mock(DownloadFileManager.class);
    when(files.createTempFile(any()))
        .thenAnswer(
            call -> {
              DownloadFile file =
                  new SimpleDownloadFile(
                      Files.createTempFile(folder, "block", "").toFile(), call.getArgument(0));
              return file;
            });
    when(files.registerTempFileToClean(any())).thenReturn(keep);
    return files;
  }
}
