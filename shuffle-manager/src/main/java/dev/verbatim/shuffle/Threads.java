package dev.verbatim.shuffle;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Pools of daemon threads that carry the project's name, so that none keeps a JVM alive. */
final class Threads {
  private static final int IDLE_SECONDS = 30;

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

  /** As many threads as there are tasks, for tasks that block. */
  static ExecutorService growing(String name) {
    return pool(name, 0, Integer.MAX_VALUE, new SynchronousQueue<>());
  }

  private static ExecutorService pool(
      String name, int core, int most, BlockingQueue<Runnable> queue) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(core, most, IDLE_SECONDS, TimeUnit.SECONDS, queue, factory(name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  private static ThreadFactory factory(String name) {
    return Thread.ofPlatform().name("verbatim-" + name + "-", 0).daemon().factory();
  }
}
