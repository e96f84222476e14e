package dev.verbatim.shuffle;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pools of daemon threads that carry the project's name, so that none keeps a JVM alive. What a
 * task throws is logged, and the pool goes on: Spark's own handler would end the executor.
 */
final class Threads {
  static final int MOST_IO_THREADS = 128;
  private static final int IDLE_SECONDS = 30;

  private static final Logger LOG = LoggerFactory.getLogger(Threads.class);

  private Threads() {}

  static ScheduledExecutorService timer(String name) {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, factory(name));
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  /** A fixed number of threads; tasks beyond the queue's room are rejected. */
  static ExecutorService bounded(String name, int threads, int queue) {
    return pool(name, threads, threads, new ArrayBlockingQueue<>(queue));
  }

  /** A fixed number of threads. */
  static ExecutorService fixed(String name, int threads) {
    return pool(name, threads, threads, new LinkedBlockingQueue<>());
  }

  /**
   * For tasks that block. Bounded: when a port goes down, all requests of all tasks fall back at
   * once, one for each peer, and a container allows only so many threads.
   */
  static ExecutorService io() {
    return fixed("io", MOST_IO_THREADS);
  }

  private static ExecutorService pool(
      String name, int core, int most, BlockingQueue<Runnable> queue) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(core, most, IDLE_SECONDS, TimeUnit.SECONDS, queue, factory(name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  private static ThreadFactory factory(String name) {
    return Thread.ofPlatform()
        .name("verbatim-" + name + "-", 0)
        .daemon()
        .uncaughtExceptionHandler(Threads::log)
        .factory();
  }

  private static void log(Thread thread, Throwable thrown) {
    LOG.error("A task of {} failed", thread.getName(), thrown);
  }
}
