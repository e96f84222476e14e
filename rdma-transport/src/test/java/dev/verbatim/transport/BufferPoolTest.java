package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mockConstruction;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.mockito.MockedConstruction;

class BufferPoolTest {
  private static final long SLAB = 64 << 10;

  private final Deque<Long> created = new ArrayDeque<>();
  private final List<Long> closed = new ArrayList<>();

  private Slab slab(long bytes) {
    created.add(bytes);
    return new Slab(Arena.ofAuto().allocate(bytes, 4096), 77, () -> closed.add(bytes));
  }

  private BufferPool pool(long limit) {
    return new BufferPool(this::slab, SLAB, limit);
  }

  @Test
  void shouldReuseASliceWhenItsLastReferenceIsReleased() {
    BufferPool pool = pool(SLAB);
    ReadBuffer buffer = pool.tryAcquire(SLAB).orElseThrow();
    buffer.retain();
    buffer.release();
    assertTrue(pool.tryAcquire(1).isEmpty());
    buffer.release();
    assertEquals(0, pool.usedBytes());
    assertEquals(SLAB, pool.tryAcquire(SLAB).orElseThrow().length());
    assertEquals(1, created.size());
  }

  @Test
  void shouldDetectUseAfterTheLastRelease() {
    ReadBuffer buffer = pool(SLAB).tryAcquire(10).orElseThrow();
    buffer.release();
    assertThrows(IllegalStateException.class, buffer::release);
    assertThrows(IllegalStateException.class, buffer::retain);
    assertThrows(IllegalStateException.class, buffer::segment);
    assertThrows(IllegalStateException.class, () -> buffer.asByteBuffer(0, 1));
  }

  @Test
  void shouldGrowBySlabsUpToTheLimit() {
    BufferPool pool = pool(3 * SLAB);
    for (int i = 0; i < 3; i++) {
      assertTrue(pool.tryAcquire(SLAB).isPresent());
    }
    assertTrue(pool.tryAcquire(1).isEmpty());
    assertEquals(3 * SLAB, pool.totalBytes());
    assertEquals(List.of(SLAB, SLAB, SLAB), List.copyOf(created));
  }

  @Test
  void shouldRefuseAtOnceWhenMoreThanTheLimitIsAsked() {
    assertTrue(pool(SLAB).tryAcquire(SLAB + 1).isEmpty());
    assertTrue(created.isEmpty());
  }

  @Test
  void shouldMakeALargerSlabForALargerRequestAndDropItForRoom() {
    BufferPool pool = pool(4 * SLAB);
    ReadBuffer large = pool.tryAcquire(3 * SLAB + 1).orElseThrow();
    assertEquals(List.of(3 * SLAB + Pages.size()), List.copyOf(created));
    large.release();
    ReadBuffer again = pool.tryAcquire(3 * SLAB).orElseThrow();
    assertEquals(1, created.size(), "the large slab is kept");
    again.release();
    assertTrue(pool.tryAcquire(4 * SLAB).isPresent());
    assertEquals(List.of(3 * SLAB + Pages.size()), closed, "and dropped when room is needed");
    assertEquals(4 * SLAB, pool.totalBytes());
  }

  @Test
  void shouldNotDropASlabInUse() {
    BufferPool pool = pool(2 * SLAB);
    ReadBuffer small = pool.tryAcquire(1).orElseThrow();
    assertTrue(pool.tryAcquire(2 * SLAB).isEmpty());
    assertTrue(closed.isEmpty());
    small.release();
    assertTrue(pool.tryAcquire(2 * SLAB).isPresent());
  }

  @Test
  void shouldAnswerEmptyWhenTheDeviceRefusesAnotherSlab() {
    BufferPool pool =
        new BufferPool(
            bytes -> {
              if (created.size() == 1) {
                throw new RegistrationException(RegistrationException.Kind.MEMLOCK, "ENOMEM");
              }
              return slab(bytes);
            },
            SLAB,
            10 * SLAB);
    assertTrue(pool.tryAcquire(SLAB).isPresent());
    assertTrue(pool.tryAcquire(SLAB).isEmpty());
  }

  @Test
  void shouldKeepTheSliceWhenThereIsNoMemoryForItsBuffer() {
    BufferPool pool = pool(SLAB);
    try (MockedConstruction<ReadBuffer> _ =
        mockConstruction(
            ReadBuffer.class,
            (mock, context) -> {
              throw new InternalError("test");
            })) {
      assertThrows(Throwable.class, () -> pool.tryAcquire(1));
    }
    assertEquals(0, pool.usedBytes());
    assertTrue(pool.tryAcquire(SLAB).isPresent());
  }

  @Test
  void shouldShowBytesReadOnlyAndBigEndian() {
    ReadBuffer buffer = pool(SLAB).tryAcquire(16).orElseThrow();
    buffer.segment().set(ValueLayout.JAVA_BYTE, 8, (byte) 1);
    assertEquals(1L << 56, buffer.asByteBuffer(8, 8).getLong());
    assertTrue(buffer.asByteBuffer(0, 16).isReadOnly());
    assertThrows(IndexOutOfBoundsException.class, () -> buffer.asByteBuffer(9, 8));
  }

  @Test
  void shouldCloseAllSlabsAndRefuseAfterwards() {
    BufferPool pool = pool(4 * SLAB);
    ReadBuffer kept = pool.tryAcquire(SLAB).orElseThrow();
    pool.tryAcquire(SLAB).orElseThrow();
    pool.close();
    assertEquals(2, closed.size());
    assertThrows(IllegalStateException.class, () -> pool.tryAcquire(1));
    kept.release();
    assertThrows(IllegalStateException.class, kept::release);
  }

  @Test
  void shouldWaitWithClosingForASlabThatIsJustMade() throws Exception {
    CountDownLatch making = new CountDownLatch(1);
    CountDownLatch made = new CountDownLatch(1);
    BufferPool pool =
        new BufferPool(
            bytes -> {
              making.countDown();
              await(made);
              return slab(bytes);
            },
            SLAB,
            SLAB);
    Thread user =
        Thread.ofPlatform()
            .start(() -> assertThrows(IllegalStateException.class, () -> pool.tryAcquire(1)));
    making.await();
    Thread closer = Thread.ofPlatform().start(pool::close);
    assertFalse(closer.join(Duration.ofMillis(100)));
    made.countDown();
    closer.join();
    user.join();
    assertEquals(created.size(), closed.size());
    assertEquals(1, closed.size());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Slices in use never overlap, and everything is one gap again in the end. */
  @Test
  void shouldKeepSlicesApartWhateverTheOrderOfUse() {
    Random random = new Random(42);
    BufferPool pool = pool(8 * SLAB);
    List<ReadBuffer> held = new ArrayList<>();
    for (int round = 0; round < 20_000; round++) {
      if (random.nextInt(100) < 55) {
        pool.tryAcquire(1 + random.nextInt(20_000)).ifPresent(held::add);
      } else if (!held.isEmpty()) {
        held.remove(random.nextInt(held.size())).release();
      }
      if (round % 500 == 0) {
        assertApart(held);
      }
    }
    held.forEach(ReadBuffer::release);
    assertEquals(0, pool.usedBytes());
    for (int i = 0; i < created.size(); i++) {
      assertTrue(pool.tryAcquire(SLAB).isPresent());
    }
    assertFalse(created.size() > 8);
  }

  private static void assertApart(List<ReadBuffer> held) {
    List<ReadBuffer> sorted = new ArrayList<>(held);
    sorted.sort((a, b) -> Long.compareUnsigned(a.address(0, 1), b.address(0, 1)));
    for (int i = 1; i < sorted.size(); i++) {
      ReadBuffer before = sorted.get(i - 1);
      assertTrue(before.address(0, 1) + before.length() <= sorted.get(i).address(0, 1));
    }
  }
}
