package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShuffleBlockTest {
  @ParameterizedTest
  @CsvSource({
    "shuffle_0_0_0, 0, 0, 0, 1",
    "shuffle_12_345_67, 12, 345, 67, 68",
    "shuffle_2147483647_9223372036854775807_2147483646, 2147483647, 9223372036854775807, 2147483646,"
        + " 2147483647",
    "shuffle_1_2_3_5, 1, 2, 3, 5",
    "shuffle_1_2_007_0011, 1, 2, 7, 11"
  })
  void shouldParse(String id, int shuffleId, long mapId, int start, int end) {
    ShuffleBlock block = ShuffleBlock.parse(id).orElseThrow();

    assertEquals(id, block.id);
    assertEquals(shuffleId, block.shuffleId);
    assertEquals(mapId, block.mapId);
    assertEquals(start, block.startReduce);
    assertEquals(end, block.endReduce);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "shuffle_",
        "shuffle_1",
        "shuffle_1_2",
        "shuffle_1_2_",
        "shuffle__2_3",
        "shuffle_1__3",
        "shuffle_1_2_3_",
        "shuffle_1_2_3_4_5",
        "shuffle_1_2_3_4_",
        "shuffle_1_2_3.data",
        "shuffle_1_2_+3",
        "shuffle_-1_2_3",
        "shuffle_1_2_ 3",
        "shuffle_1_2_\u0663",
        "shuffle_2147483648_2_3",
        "shuffle_1_9223372036854775808_3",
        "shuffle_1_92233720368547758070_3",
        "shuffle_1_2_2147483648",
        "shuffle_1_2_3_2147483648",
        "shuffleChunk_1_2_3_4",
        "shufflePush_1_2_3_4",
        "rdd_1_2"
      })
  void shouldLeaveOtherNamesAlone(String id) {
    assertTrue(ShuffleBlock.parse(id).isEmpty());
  }

  @Test
  void shouldLeaveABlockWithoutPartitionsAlone() {
    assertTrue(ShuffleBlock.parse("shuffle_1_2_3_3").isEmpty());
    assertTrue(ShuffleBlock.parse("shuffle_1_2_3_2").isEmpty());
    assertTrue(ShuffleBlock.parse("shuffle_1_2_2147483647").isEmpty());
  }
}
