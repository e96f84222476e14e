package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BatchPartTest {
  private static final long BUFFER = 1 << 20;

  private ReadBuffer buffer;

  @BeforeEach
  void acquire() {
    buffer = Buffers.pool(BUFFER).tryAcquire(BUFFER).orElseThrow();
  }

  @Test
  void shouldCutAReadAtTheLongestMessage() {
    ReadBatch batch = new ReadBatch(new RecordingListener()).add(1000, 5, buffer, 64, 2500);
    BatchPart part = batch.part(0, 2500);
    assertEquals(1000, part.next(1000));
    assertEquals(1000, part.iova());
    assertEquals(buffer.address(64, 1), part.address());
    assertEquals(1000, part.next(1000));
    assertEquals(2000, part.iova());
    assertEquals(500, part.next(1000));
    assertEquals(3000, part.iova());
    assertEquals(buffer.address(2064, 1), part.address());
    assertEquals(5, part.rkey());
    assertFalse(part.hasNext());
  }

  /** Whatever the lengths, parts and limits: each byte is read once, from and to its place. */
  @Test
  void shouldReadEachByteOnceForAnySplit() {
    Random random = new Random(7);
    for (int round = 0; round < 2_000; round++) {
      ReadBatch batch = new ReadBatch(new RecordingListener());
      int reads = 1 + random.nextInt(40);
      long[] start = new long[reads];
      long offset = 0;
      for (int i = 0; i < reads; i++) {
        long length = 1 + random.nextInt(random.nextBoolean() ? 16 : 20_000);
        start[i] = offset;
        batch.add(iova(i), i, buffer, offset, length);
        offset += length;
      }
      long mostBytes = 1 + random.nextInt(5_000);
      int parts = (int) Math.min(1 + random.nextInt(8), batch.bytes());
      long partBytes = (batch.bytes() + parts - 1) / parts;
      long position = 0;
      for (long from = 0; from < batch.bytes(); from += partBytes) {
        BatchPart part = batch.part(from, Math.min(partBytes, batch.bytes() - from));
        while (part.hasNext()) {
          long length = part.next(mostBytes);
          assertTrue(length >= 1 && length <= mostBytes);
          int read = part.rkey();
          assertEquals(position - start[read], part.iova() - iova(read));
          assertEquals(buffer.address(position, length), part.address());
          assertTrue(position + length <= start[read] + batch.length(read));
          position += length;
        }
      }
      assertEquals(batch.bytes(), position);
    }
  }

  private static long iova(int read) {
    return 0x7000_0000_0000L + ((long) read << 32);
  }

  @Test
  void shouldRefuseRangesOutsideTheBuffer() {
    ReadBatch batch = new ReadBatch(new RecordingListener());
    assertThrows(IndexOutOfBoundsException.class, () -> batch.add(0, 0, buffer, BUFFER, 1));
    assertThrows(IndexOutOfBoundsException.class, () -> batch.add(0, 0, buffer, -1, 1));
    assertThrows(IndexOutOfBoundsException.class, () -> batch.add(0, 0, buffer, 1, BUFFER));
    assertThrows(IllegalArgumentException.class, () -> batch.add(0, 0, buffer, 0, 0));
    assertEquals(0, batch.size());
  }
}
