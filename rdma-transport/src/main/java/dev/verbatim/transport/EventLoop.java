package dev.verbatim.transport;

import dev.verbatim.verbs.Pollfd;
import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread on which connections are made and ended, so that no RDMA CM identifier is touched
 * by two threads and none is destroyed under an event. Waits for descriptors, tasks and a tick.
 */
final class EventLoop implements Runnable {
  private static final int MOST_FDS = 4;

  private static final Logger LOG = LoggerFactory.getLogger(EventLoop.class);

  /** Does what is due by time. */
  @FunctionalInterface
  interface Ticker {
    /** Answers nanoseconds until it wants to be called again. */
    long tick(long nowNanos);
  }

  /** Takes what waits at a descriptor. */
  @FunctionalInterface
  interface Reader {
    void read() throws VerbsException;
  }

  /**
   * A descriptor whose device is gone stays readable for ever, and each try to read it fails: that
   * is not tried at full speed.
   */
  private record Watched(Reader reader, FailureStreak failures) {
    void read() {
      try {
        reader.read();
        failures.succeeded();
      } catch (VerbsException e) {
        failures.failed(e);
        WakeUp.pauseAfterError();
      }
    }
  }

  private final Posix posix;
  private final MemorySegment pollFds;
  private final WakeUp wakeUp;
  private final List<Watched> readers = new ArrayList<>();
  private final List<Ticker> tickers = new ArrayList<>();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;
  private volatile Thread thread;

  EventLoop(Posix posix, Arena arena) throws VerbsException {
    this.posix = posix;
    this.pollFds = Pollfd.STRUCT.allocate(arena, MOST_FDS);
    this.wakeUp = new WakeUp(posix);
    watch(wakeUp.fd(), () -> {}, _ -> {});
  }

  /**
   * Calls the reader whenever the descriptor, which must not block, is readable. Before start.
   *
   * @param giveUp told why, when reading fails again and again
   */
  void watch(int fd, Reader reader, Consumer<String> giveUp) {
    int index = readers.size();
    Pollfd.FD.set(pollFds, index, fd);
    Pollfd.EVENTS.set(pollFds, index, (short) PosixConstants.POLLIN);
    readers.add(new Watched(reader, new FailureStreak(LOG, "Events cannot be taken", giveUp)));
  }

  /** Before start. */
  void every(Ticker ticker) {
    tickers.add(ticker);
  }

  /** Whether the caller is this loop's thread. */
  boolean isOwnThread() {
    return Thread.currentThread() == thread;
  }

  void execute(Runnable task) {
    tasks.add(task);
    wakeUp.signal();
  }

  /** Lets {@link #run} return after the tasks that were given. */
  void stop() {
    stopped = true;
    wakeUp.signal();
  }

  @Override
  public void run() {
    thread = Thread.currentThread();
    while (!stopped || !tasks.isEmpty()) {
      try {
        doWork();
      } catch (Throwable e) { // a listener may throw what it need not declare, as in Scala
        WakeUp.goOnAfter(e, LOG, "The event thread goes on after an unexpected error");
      }
    }
  }

  void doWork() throws VerbsException {
    long wait = Long.MAX_VALUE;
    long now = System.nanoTime();
    for (Ticker ticker : tickers) {
      wait = Math.min(wait, ticker.tick(now));
    }
    int millis = tasks.isEmpty() && !stopped ? Math.clamp(wait / 1_000_000 + 1, 1, 1000) : 0;
    posix.poll(pollFds, readers.size(), millis);
    if (Pollfd.REVENTS.get(pollFds, 0) != 0) {
      wakeUp.drain();
    }
    // Tasks first: an event that is read below may end what a task has started.
    int pending = tasks.size();
    for (int i = 0; i < pending; i++) {
      tasks.remove().run();
    }
    for (int i = 1; i < readers.size(); i++) {
      if (Pollfd.REVENTS.get(pollFds, i) != 0) {
        readers.get(i).read();
      }
    }
  }

  /** Frees the wake-up descriptor, after the thread has ended. */
  void close() {
    wakeUp.close();
  }
}
