package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page sizes of x86-64 and aarch64, whichever this machine has. */
class FilePartsTest {
  private static final int MOST_PARTS = 1_000;

  @ParameterizedTest
  @ValueSource(longs = {4 << 10, 16 << 10, 64 << 10})
  void shouldCutAtPagesAndCoverTheWholeFile(long page) {
    Random random = new Random(page);
    for (int i = 0; i < 10_000; i++) {
      long most = 1 + (random.nextLong() >>> 1 >>> random.nextInt(63));
      long step = FileParts.step(most, page);
      assertEquals(0, step % page);
      assertTrue(step <= Math.max(most, page), () -> step + " for " + most);
      assertTrue(most - step < page, "no shorter than need be");
      long limit = step > Long.MAX_VALUE / MOST_PARTS ? Long.MAX_VALUE : step * MOST_PARTS;
      check(random.nextLong(1, limit), step, page, random);
    }
  }

  private static void check(long length, long step, long page, Random random) {
    List<FileParts.Part> parts = FileParts.of(length, step);
    long end = 0;
    for (FileParts.Part part : parts) {
      assertEquals(end, part.offset());
      assertEquals(0, part.offset() % page);
      assertTrue(part.length() >= 1 && part.length() <= step);
      end = part.offset() + part.length();
    }
    assertEquals(length, end);
    // As readers find the part of a byte: by division.
    long position = random.nextLong(length);
    FileParts.Part part = parts.get(Math.toIntExact(position / parts.getFirst().length()));
    assertTrue(position >= part.offset() && position < part.offset() + part.length());
  }

  @ParameterizedTest
  @ValueSource(longs = {4 << 10, 16 << 10, 64 << 10})
  void shouldCutAtTheEdgesOfAPage(long page) {
    for (long length : new long[] {1, page - 1, page, page + 1, 2 * page, 2 * page + 1}) {
      List<FileParts.Part> parts = FileParts.of(length, FileParts.step(page + 1, page));
      assertEquals(Math.ceilDiv(length, page), parts.size());
    }
    assertEquals(1, FileParts.of(Long.MAX_VALUE / 2, FileParts.step(Long.MAX_VALUE, page)).size());
    assertEquals(page, FileParts.step(1, page), "the device refuses it, with its reason");
  }
}
