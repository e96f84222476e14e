package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DeliveredBlocksTest {
  private static ShuffleBlock block(long map, int reduce) {
    return ShuffleBlock.parse("shuffle_3_" + map + "_" + reduce).orElseThrow();
  }

  @Test
  void shouldKnowThoseThatWereDelivered() {
    DeliveredBlocks delivered = new DeliveredBlocks();
    delivered.add(block(Long.MAX_VALUE, 7));
    assertTrue(delivered.contains(block(Long.MAX_VALUE, 7)));
    assertFalse(delivered.contains(block(Long.MAX_VALUE, 8)));
    assertFalse(delivered.contains(block(7, Integer.MAX_VALUE - 1)));
  }

  /**
   * A task that reads many partitions of many map outputs: else the set becomes lists and trees.
   */
  @Test
  void shouldHaveKeysThatASetTellsApart() {
    Set<Long> keys = new HashSet<>();
    Set<Integer> hashes = new HashSet<>();
    IntStream.range(0, 100)
        .forEach(
            map ->
                IntStream.range(0, 100)
                    .forEach(
                        reduce -> {
                          long key = DeliveredBlocks.key(block(1_000 + map, reduce));
                          keys.add(key);
                          hashes.add(Long.hashCode(key));
                        }));
    assertEquals(10_000, keys.size());
    assertTrue(hashes.size() > 9_900, () -> "distinct hashes: " + hashes.size());
  }
}
