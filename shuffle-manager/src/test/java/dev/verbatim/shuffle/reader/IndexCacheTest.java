package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

class IndexCacheTest {
  private static final int LARGEST = IndexCache.MOST_INDEX_BYTES;
  private static final long[] OFFSETS = {0, 7};

  private long now = 1;
  private final IndexCache cache = new IndexCache(() -> now);

  private static ShuffleBlock block(int shuffleId, long mapId) {
    return block(shuffleId, mapId, new RemoteAddress(mapId << 20, 7));
  }

  private static ShuffleBlock block(int shuffleId, long mapId, RemoteAddress index) {
    ShuffleBlock block =
        ShuffleBlock.parse("shuffle_" + shuffleId + "_" + mapId + "_0").orElseThrow();
    block.output = new Registered(mapId, "1", List.of(new RemoteAddress(1, 1)), 7, 7, index);
    return block;
  }

  /** Claims indexes of a shuffle until there is no room; answers how many. */
  private int fill(int shuffleId) {
    int claimed = 0;
    while (cache.claim(block(shuffleId, claimed), LARGEST)) {
      claimed++;
      assertTrue(cache.bytes() <= IndexCache.MOST_BYTES);
    }
    return claimed;
  }

  @Test
  void shouldKeepWhatWasReadForTheSameMapOutput() {
    assertTrue(cache.claim(block(3, 10), 16));
    assertNull(cache.get(block(3, 10)), "not there yet");
    cache.keep(block(3, 10), OFFSETS);

    assertArrayEquals(OFFSETS, cache.get(block(3, 10)));
    assertNull(cache.get(block(3, 11)));
    assertNull(cache.get(block(4, 10)));
    assertNull(cache.get(block(3, 10, new RemoteAddress(1, 7))), "registered elsewhere");
  }

  @Test
  void shouldLetOneReaderReadAnIndex() {
    assertTrue(cache.claim(block(3, 10), 16));
    assertFalse(cache.claim(block(3, 10), 16));
    cache.drop(block(3, 10));
    assertTrue(cache.claim(block(3, 10), 16), "the one before has failed");
    cache.keep(block(3, 10), OFFSETS);
    assertFalse(cache.claim(block(3, 10), 16));
  }

  @Test
  void shouldRefuseWhatIsTooLongOrHasNoRoom() {
    assertFalse(cache.claim(block(3, 10), LARGEST + 1));
    assertEquals(0, cache.bytes());

    long each = LARGEST + IndexCache.OVERHEAD_BYTES;
    assertEquals(IndexCache.MOST_BYTES / each, fill(3));
    assertEquals(IndexCache.MOST_BYTES / each * each, cache.bytes());
  }

  @Test
  void shouldNotThrowOutWhatIsInUse() {
    fill(3);
    cache.keep(block(3, 0), OFFSETS);
    now += IndexCache.IDLE_NANOS - 1;

    assertFalse(cache.claim(block(4, 1), LARGEST));
    assertArrayEquals(OFFSETS, cache.get(block(3, 0)));
    now += IndexCache.IDLE_NANOS - 1;
    assertFalse(cache.claim(block(4, 1), LARGEST), "the other one was asked for meanwhile");
  }

  @Test
  void shouldMakeRoomByForgettingShufflesThatAreIdle() {
    cache.claim(block(2, 10), 16);
    int most = fill(3);
    now += IndexCache.IDLE_NANOS;
    cache.keep(block(2, 10), OFFSETS);
    cache.get(block(2, 10));

    assertEquals(most, fill(4));
    assertNull(cache.get(block(3, 0)));
    assertArrayEquals(OFFSETS, cache.get(block(2, 10)));
  }

  @Test
  void shouldForgetAShuffleThatIsRemoved() {
    cache.claim(block(3, 10), 16);
    cache.keep(block(3, 10), OFFSETS);
    cache.claim(block(3, 11), 16);
    cache.claim(block(4, 12), 16);
    cache.keep(block(4, 12), OFFSETS);

    cache.remove(3);

    assertNull(cache.get(block(3, 10)));
    assertArrayEquals(OFFSETS, cache.get(block(4, 12)));
    assertEquals(16 + IndexCache.OVERHEAD_BYTES, cache.bytes());
    cache.keep(block(3, 11), OFFSETS);
    assertNull(cache.get(block(3, 11)), "what arrives later is not kept");
  }

  @Test
  void shouldNotTakeALateIndexForThatOfANewLocation() {
    RemoteAddress elsewhere = new RemoteAddress(1, 7);
    cache.claim(block(3, 10), 16);
    cache.drop(block(3, 10));
    cache.claim(block(3, 10, elsewhere), 16);

    cache.keep(block(3, 10), OFFSETS);

    assertNull(cache.get(block(3, 10, elsewhere)));
    cache.drop(block(3, 10));
    assertEquals(0, cache.bytes());
  }
}
