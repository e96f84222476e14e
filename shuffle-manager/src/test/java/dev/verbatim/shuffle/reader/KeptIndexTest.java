package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.transport.ReadFailure;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tasks of one executor, one after the other, that read the same map outputs. */
class KeptIndexTest extends BlockStoreClientFixture {
  /** What another task fetches; answers the READs of each of its batches. */
  private List<List<FakePeer.Read>> fetchInATask(String... ids) {
    peer.posted.clear();
    delivered.clear();
    client = client(Runnable::run, Runnable::run);
    fetch(ids);
    return List.copyOf(peer.posted);
  }

  private static List<Integer> reads(List<List<FakePeer.Read>> batches) {
    return batches.stream().map(List::size).toList();
  }

  @Test
  void shouldReadNoIndexThatAnEarlierTaskHasRead() {
    byte[] one = output(10, 1 << 20, 5, 7, 9);
    byte[] two = output(11, 1 << 20, 4, 0, 6);
    assertEquals(List.of(2, 2), reads(fetchInATask("shuffle_3_10_0", "shuffle_3_11_0")));

    assertEquals(List.of(2), reads(fetchInATask("shuffle_3_10_2", "shuffle_3_11_2")));
    assertArrayEquals(part(one, 12, 21), delivered.get("shuffle_3_10_2"));
    assertArrayEquals(part(two, 4, 10), delivered.get("shuffle_3_11_2"));

    assertEquals(List.of(1), reads(fetchInATask("shuffle_3_10_0_3")));
    assertArrayEquals(one, delivered.get("shuffle_3_10_0_3"));
    assertTrue(stockCalls.isEmpty());
  }

  @Test
  void shouldReadAnIndexOnceForManyBlocksOfARequest() {
    byte[] data = output(10, 1 << 20, 5, 7, 9, 11, 13);

    List<List<FakePeer.Read>> batches =
        fetchInATask("shuffle_3_10_0", "shuffle_3_10_2", "shuffle_3_10_4");

    assertEquals(List.of(1, 3), reads(batches));
    assertEquals(6 * Long.BYTES, batches.getFirst().getFirst().length());
    assertArrayEquals(part(data, 12, 21), delivered.get("shuffle_3_10_2"));
    assertArrayEquals(part(data, 32, 45), delivered.get("shuffle_3_10_4"));
  }

  @Test
  void shouldReadTheBlocksEntriesAloneWhileAnotherTaskReadsTheIndex() {
    byte[] data = output(10, 1 << 20, 5, 7, 9);
    ShuffleBlock claimed = ShuffleBlock.parse("shuffle_3_10_0").orElseThrow();
    claimed.output = (MapOutputLocation.Registered) outputs.get(10L);
    peer.indexes.claim(claimed, 4 * Long.BYTES);

    List<List<FakePeer.Read>> batches = fetchInATask("shuffle_3_10_1", "shuffle_3_10_0_3");

    assertEquals(
        List.of(16L, 8L, 8L), batches.getFirst().stream().map(FakePeer.Read::length).toList());
    assertArrayEquals(part(data, 5, 12), delivered.get("shuffle_3_10_1"));
    assertArrayEquals(data, delivered.get("shuffle_3_10_0_3"));
  }

  @Test
  void shouldBoundTheWholeIndexesOfARequest() {
    int[] partitions = new int[1000];
    partitions[999] = 1;
    int indexBytes = 1001 * Long.BYTES;
    int maps = IndexFetch.MOST_WHOLE_BYTES / indexBytes + 50;
    IntStream.range(0, maps).forEach(map -> output(map, 1, partitions));
    String[] ids =
        IntStream.range(0, maps)
            .mapToObj(map -> "shuffle_3_" + map + "_999")
            .toArray(String[]::new);

    List<FakePeer.Read> reads = fetchInATask(ids).getFirst();

    assertEquals(maps, reads.size());
    assertEquals(50, reads.stream().filter(read -> read.length() == 16).count());
    assertEquals(50, fetchInATask(ids).getFirst().size(), "the next task reads those");
    assertEquals(1, fetchInATask(ids).size());
    assertEquals(maps, delivered.size());
  }

  @Test
  void shouldRefuseAKeptIndexWhoseEntriesCannotBeRight() {
    byte[] data = {1, 2, 3, 4, 5};
    outputs.put(10L, peer.register(10, "1", data, new long[] {0, 5, 99, -1}, 5));
    peer.partitions = 3;
    fetchInATask("shuffle_3_10_0");
    assertArrayEquals(data, delivered.get("shuffle_3_10_0"));

    assertEquals(List.of(), fetchInATask("shuffle_3_10_1", "shuffle_3_10_2"));

    assertOnlyFallback(FallbackReason.INDEX_INVALID, "shuffle_3_10_1", "shuffle_3_10_2");
    assertEquals(List.of(1, 1), reads(fetchInATask("shuffle_3_10_0")), "it is READ again");
  }

  @Test
  void shouldReadTheIndexAgainAfterAFailure() {
    byte[] data = output(10, 1 << 20, 5, 7);
    fetchInATask("shuffle_3_10_0");
    peer.failures =
        number -> number == 0 ? new ReadFailure(ReadFailure.Kind.DISCONNECTED, "test") : null;

    assertEquals(List.of(1, 1, 1), reads(fetchInATask("shuffle_3_10_1")));
    assertArrayEquals(part(data, 5, 12), delivered.get("shuffle_3_10_1"));

    peer.failures = number -> null;
    assertEquals(List.of(1, 1), reads(fetchInATask("shuffle_3_10_1")));
    assertEquals(List.of(1), reads(fetchInATask("shuffle_3_10_1")));
  }

  @Test
  void shouldForgetTheIndexWhenItsOwnReadFails() {
    output(10, 1 << 20, 5, 7);
    for (ReadFailure.Kind kind : ReadFailure.Kind.values()) {
      peer.failures = number -> new ReadFailure(kind, "test");
      fetchInATask("shuffle_3_10_0");
      assertEquals(0, peer.indexes.bytes(), kind::name);
    }
    peer.failures = number -> null;
    peer.buffers = 0;
    fetchInATask("shuffle_3_10_0");
    assertEquals(0, peer.indexes.bytes(), "no buffer");
  }

  @Test
  void shouldReadTheBlocksEntriesAloneWhenThePoolHasNoRoomForWholeIndexes() {
    byte[] one = output(10, 1 << 20, 5, 7, 9);
    byte[] two = output(11, 1 << 20, 4, 6, 8);
    peer.longestBuffer = 2 * 2 * Long.BYTES;

    List<List<FakePeer.Read>> batches = fetchInATask("shuffle_3_10_1", "shuffle_3_11_1");

    assertEquals(
        List.of(16L, 16L), batches.getFirst().stream().map(FakePeer.Read::length).toList());
    assertArrayEquals(part(one, 5, 12), delivered.get("shuffle_3_10_1"));
    assertArrayEquals(part(two, 4, 10), delivered.get("shuffle_3_11_1"));
    assertEquals(0, peer.indexes.bytes(), "a later task may READ them");
  }

  @Test
  void shouldReadTheIndexAgainWhenSparkFindsABlockCorrupt() {
    output(10, 1 << 20, 5, 7);
    fetchInATask("shuffle_3_10_0");

    fetch("shuffle_3_10_0");

    assertOnlyFallback(FallbackReason.BLOCK_CORRUPT, "shuffle_3_10_0");
    assertEquals(List.of(1, 1), reads(fetchInATask("shuffle_3_10_0")));
  }

  @Test
  void shouldReadTheIndexAgainWhenTheShuffleWasRemoved() {
    output(10, 1 << 20, 5, 7);
    fetchInATask("shuffle_3_10_0");
    peer.indexes.remove(3);

    assertEquals(List.of(1, 1), reads(fetchInATask("shuffle_3_10_0")));
  }
}
