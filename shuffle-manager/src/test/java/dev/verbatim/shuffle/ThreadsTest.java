package dev.verbatim.shuffle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Spark's default handler of what nobody catches, which an executor has, ends the process. */
class ThreadsTest {
  private final List<Throwable> fatal = new CopyOnWriteArrayList<>();
  private final Thread.UncaughtExceptionHandler before =
      Thread.getDefaultUncaughtExceptionHandler();

  @BeforeEach
  void catchWhatNobodyCatches() {
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> fatal.add(thrown));
  }

  @AfterEach
  void restore() {
    Thread.setDefaultUncaughtExceptionHandler(before);
  }

  static Stream<ExecutorService> pools() {
    return Stream.of(Threads.fixed("test", 1), Threads.bounded("test", 1, 10), Threads.io());
  }

  @ParameterizedTest
  @MethodSource("pools")
  void shouldSayItAndGoOnWhenATaskThrows(ExecutorService pool) throws Exception {
    try (CapturedLog log = new CapturedLog(Threads.class)) {
      CountDownLatch thrown = new CountDownLatch(2);
      pool.execute(
          () -> {
            thrown.countDown();
            throw new OutOfMemoryError("test");
          });
      pool.execute(
          () -> {
            thrown.countDown();
            throw new IllegalStateException("test");
          });
      assertTrue(thrown.await(10, TimeUnit.SECONDS));
      CountDownLatch next = new CountDownLatch(1);
      pool.execute(next::countDown);
      assertTrue(next.await(10, TimeUnit.SECONDS), "the pool goes on");
      pool.shutdown();
      assertTrue(pool.awaitTermination(10, TimeUnit.SECONDS));
      // A thread says it when the pool has given it up already.
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      while (log.lines().size() + fatal.size() < 2 && System.nanoTime() < end) {
        Thread.sleep(1);
      }

      assertEquals(List.of(), fatal);
      assertEquals(2, log.lines().size(), () -> log.lines().toString());
    }
  }

  @Test
  void shouldBoundTheThreadsWhenManyTasksBlock() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1000);
    ExecutorService pool = Threads.io();
    for (int i = 0; i < 1000; i++) {
      pool.execute(
          () -> {
            try {
              gate.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            done.countDown();
          });
    }

    long threads =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith("verbatim-io-"))
            .count();
    gate.countDown();

    assertTrue(done.await(10, TimeUnit.SECONDS));
    assertEquals(Threads.MOST_IO_THREADS, threads);
    pool.shutdown();
    assertTrue(pool.awaitTermination(10, TimeUnit.SECONDS));
  }
}
