package dev.verbatim.bench;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import scala.Tuple2;

/**
 * Shuffle blocks of random sizes, the same whoever makes them: one of each map task for each
 * reducer.
 *
 * @param smallest bytes of a block at least, from 4
 * @param largest bytes of a block at most
 */
record RandomBlocks(int maps, int reducers, int smallest, int largest) implements Serializable {
  private static final int SEED = 20_261_130;
  private static final int NOISE_BYTES = 64 << 10;
  private static final byte[] NOISE = new byte[2 * NOISE_BYTES];

  static {
    new Random(SEED).nextBytes(NOISE);
  }

  int count() {
    return maps * reducers;
  }

  /** What a map task writes: for each reducer its block. */
  Iterator<Tuple2<Integer, byte[]>> of(int map) {
    return IntStream.range(0, reducers)
        .mapToObj(reducer -> new Tuple2<>(reducer, block(map, reducer)))
        .iterator();
  }

  private byte[] block(int map, int reducer) {
    int number = map * reducers + reducer;
    SplittableRandom random = new SplittableRandom(SEED + number);
    byte[] block = new byte[random.nextInt(smallest, largest + 1)];
    for (int at = 0; at < block.length; at += NOISE_BYTES) {
      int length = Math.min(NOISE_BYTES, block.length - at);
      System.arraycopy(NOISE, random.nextInt(NOISE_BYTES), block, at, length);
    }
    ByteBuffer.wrap(block).putInt(number);
    return block;
  }

  /** Of all blocks, in any order. */
  Sum sum() {
    Sum sum = new Sum(0, 0, 0);
    for (int map = 0; map < maps; map++) {
      for (int reducer = 0; reducer < reducers; reducer++) {
        byte[] block = block(map, reducer);
        CRC32 crc = new CRC32();
        crc.update(block);
        sum = sum.plus(block.length, crc.getValue());
      }
    }
    return sum;
  }

  /**
   * What is read of blocks, whatever their order.
   *
   * @param blocks how many
   * @param bytes of all of them
   * @param checksums their CRC-32, added up
   */
  record Sum(long blocks, long bytes, long checksums) implements Serializable {
    Sum plus(long length, long checksum) {
      return new Sum(blocks + 1, bytes + length, checksums + checksum);
    }
  }
}
