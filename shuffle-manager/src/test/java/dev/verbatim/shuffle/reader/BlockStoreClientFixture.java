package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A client of a peer whose READs and whose transfer by TCP are played. */
abstract class BlockStoreClientFixture {
  static final byte[] STOCK = "by Spark's own transfer".getBytes();

  final FakePeer peer = new FakePeer();
  final ShuffleCounters counters = spy(new ShuffleCounters());
  final BlockStoreClient stock = mock(BlockStoreClient.class);
  final Map<Long, MapOutputLocation> outputs = new HashMap<>();
  final List<List<String>> stockCalls = new ArrayList<>();
  final Map<String, byte[]> delivered = new TreeMap<>();
  final Map<String, Throwable> failed = new TreeMap<>();
  Located answer = new Located(FakePeer.ON, outputs, FallbackReason.RECORD_MISSING);
  RdmaBlockStoreClient client;
  boolean taskIsOver;

  final BlockFetchingListener listener =
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

  RdmaBlockStoreClient client(Executor workers, Executor io) {
    return new RdmaBlockStoreClient(
        peer.context(() -> answer, stock, counters, workers, io), peer.partitions);
  }

  @AfterEach
  void allBuffersAreBack() {
    peer.close();
    assertEquals(0, peer.references.get(), "every buffer must be released");
  }

  void fetch(String... ids) {
    client.fetchBlocks("host", 7337, "1", ids, listener, null);
  }

  byte[] output(long mapId, int regionLength, int... partitions) {
    FakePeer.Output output = peer.output(mapId, regionLength, partitions);
    outputs.put(mapId, output.location());
    client = client(Runnable::run, Runnable::run); // which knows the number of partitions
    return output.data();
  }

  static byte[] part(byte[] data, int from, int to) {
    return java.util.Arrays.copyOfRange(data, from, to);
  }

  void assertOnlyFallback(FallbackReason reason, String... ids) {
    CounterSnapshot counts = counters.snapshot();
    assertEquals(List.of(List.of(ids)), stockCalls, "one call of the stock client");
    assertEquals(Map.of(reason, (long) ids.length), counts.fallbacks());
    assertEquals(ids.length, counts.blocksByTcp());
    assertEquals((long) ids.length * STOCK.length, counts.bytesByTcp());
    for (String id : ids) {
      assertArrayEquals(STOCK, delivered.get(id));
    }
  }
}
