package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.metrics.CounterSnapshot;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RdmaBlockStoreClientTest extends BlockStoreClientFixture {
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
    peer.partitions = 0; // not known: its entries alone
    client = client(Runnable::run, Runnable::run);

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
}
