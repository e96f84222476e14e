package dev.verbatim.transport;

import dev.verbatim.verbs.IbvCompChannel;
import dev.verbatim.verbs.IbvWc;
import dev.verbatim.verbs.Pollfd;
import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes completions from one completion queue. An agent: {@link #doWork} does one round, {@link
 * #run} repeats it, spins a little when there was nothing to do, then arms the completion channel
 * and blocks. What a completion means is its subclass's matter; of these a process that only READs
 * loads one, so that the JIT calls it as if there were no other.
 */
abstract class QueuePoller implements Runnable {
  private static final int COMPLETIONS_PER_ROUND = 64;

  /** While there is much to do the clock, which costs as much as a READ, is not read each time. */
  private static final int BUSY_ROUNDS_PER_CLOCK = 16;

  private static final Logger LOG = LoggerFactory.getLogger(QueuePoller.class);

  private final Verbs verbs;
  private final Posix posix;
  private final MemorySegment channel;
  private final MemorySegment queue;
  private final WakeUp wakeUp;
  private final SpinTime spin;
  private final int blockMillis;

  /** An array of {@link IbvWc}, of which {@link #take} is told how many are filled. */
  final MemorySegment completions;

  private final MemorySegment pollFds;
  private final MemorySegment eventQueue;
  private final MemorySegment eventContext;

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final FailureStreak pollFailures;
  private final FailureStreak eventFailures;
  private volatile boolean blocking;
  private volatile boolean stopped;
  private volatile boolean over;
  private int roundsUntilClock;

  /**
   * @param mostSpin how long to look for completions before blocking
   * @param blockMillis longest time without a look at what is due by time
   * @param deviceFailed told when completions, or events of the queue, can be taken no more; called
   *     by the poller's thread
   */
  QueuePoller(
      Verbs verbs,
      Posix posix,
      MemorySegment channel,
      MemorySegment queue,
      Duration mostSpin,
      int blockMillis,
      Consumer<String> deviceFailed,
      Arena arena)
      throws VerbsException {
    this.verbs = verbs;
    this.posix = posix;
    this.channel = channel;
    this.queue = queue;
    this.spin = new SpinTime(mostSpin);
    this.blockMillis = blockMillis;
    this.pollFailures = new FailureStreak(LOG, "Completions cannot be taken", deviceFailed);
    this.eventFailures = new FailureStreak(LOG, "Completions cannot be waited for", deviceFailed);
    this.completions = IbvWc.STRUCT.allocate(arena, COMPLETIONS_PER_ROUND);
    this.eventQueue = arena.allocate(ValueLayout.ADDRESS);
    this.eventContext = arena.allocate(ValueLayout.ADDRESS);
    this.pollFds = Pollfd.STRUCT.allocate(arena, 2);
    posix.setNonBlocking(IbvCompChannel.FD.get(channel));
    this.wakeUp = new WakeUp(posix);
    Pollfd.FD.set(pollFds, 0, IbvCompChannel.FD.get(channel));
    Pollfd.EVENTS.set(pollFds, 0, (short) PosixConstants.POLLIN);
    Pollfd.FD.set(pollFds, 1, wakeUp.fd());
    Pollfd.EVENTS.set(pollFds, 1, (short) PosixConstants.POLLIN);
  }

  /**
   * Takes what was polled; throws nothing but what is to be logged. By itself, lest the JIT take it
   * for rare: most polls of a thread that spins find nothing.
   *
   * @param count from 1
   */
  abstract void take(int count);

  /** Looks at what is due by time; called often, by the poller's thread. */
  abstract void checkDeadlines();

  /**
   * Runs a task on the poller's thread, after the completions that are there by then; or on the
   * caller's, when the poller has ended. What this throws it throws before the task is taken.
   */
  void execute(Runnable task) {
    tasks.add(task);
    if (over) {
      runTasks();
    } else {
      wake();
    }
  }

  private void runTasks() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      try {
        task.run();
      } catch (Throwable e) { // the next ones all the same
        WakeUp.say(e, LOG, "A task of the completion poller failed");
      }
    }
  }

  /** Lets {@link #run} return after the tasks that were given. */
  void stop() {
    stopped = true;
    wake();
  }

  private void wake() {
    if (blocking) {
      wakeUp.signal();
    }
  }

  @Override
  public void run() {
    while (true) {
      try {
        boolean last = stopped;
        if (doWork() == 0) {
          if (last && tasks.isEmpty()) {
            end();
            return;
          }
          idle();
        }
      } catch (VerbsException e) {
        if (!pollFailures.isOn()) { // or else it is that one, counted already
          eventFailures.failed(e);
        }
        if (stopped && tasks.isEmpty()) { // there will be no round without the error
          end();
          return;
        }
        WakeUp.pauseAfterError();
      } catch (Throwable e) { // a listener may throw what it need not declare, as in Scala
        WakeUp.goOnAfter(e, LOG, "The completion poller goes on after an unexpected error");
      }
    }
  }

  private void end() {
    over = true;
    runTasks(); // those that came since
  }

  /** One round; answers how much there was to do. */
  int doWork() throws VerbsException {
    if (roundsUntilClock == 0) {
      checkDeadlines();
      roundsUntilClock = BUSY_ROUNDS_PER_CLOCK;
    }
    // Before the tasks: a task may retire a connection, whose completions must be seen first.
    int pending = tasks.size();
    int work;
    int total = 0;
    try {
      do {
        work = poll();
        total += work;
      } while (work == COMPLETIONS_PER_ROUND);
    } finally { // also when the device tells no completions any more: batches must end
      roundsUntilClock = total + pending == 0 ? 0 : roundsUntilClock - 1;
      for (int i = 0; i < pending; i++) {
        tasks.remove().run();
      }
    }
    return total + pending;
  }

  private int poll() throws VerbsException {
    int count;
    try {
      count = verbs.pollCq(queue, COMPLETIONS_PER_ROUND, completions);
    } catch (VerbsException e) {
      pollFailures.failed(e);
      throw e;
    }
    pollFailures.succeeded();
    if (count > 0) {
      take(count);
    }
    return count;
  }

  private void idle() throws VerbsException {
    if (spin()) {
      spin.found();
      return;
    }
    spin.foundNothing();
    blocking = true;
    try {
      verbs.reqNotifyCq(queue, false);
      if (doWork() > 0 || stopped) {
        return;
      }
      if (posix.poll(pollFds, 2, blockMillis) == 0) {
        eventFailures.succeeded(); // or else the channel would be readable
        return;
      }
    } finally {
      blocking = false;
    }
    if (Pollfd.REVENTS.get(pollFds, 1) != 0) {
      wakeUp.drain();
    }
    if (Pollfd.REVENTS.get(pollFds, 0) != 0) {
      takeEvent();
    }
  }

  private void takeEvent() throws VerbsException {
    if (verbs.getCqEvent(channel, eventQueue, eventContext)) {
      verbs.ackCqEvents(queue, 1);
    }
    eventFailures.succeeded();
  }

  private boolean spin() throws VerbsException {
    long start = System.nanoTime();
    while (System.nanoTime() - start < spin.nanos()) {
      if (doWork() > 0) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  /** How long the next look for completions before blocking takes; the poller's thread's. */
  long spinNanos() {
    return spin.nanos();
  }

  /** Frees the wake-up descriptor, after the thread has ended. */
  void close() {
    wakeUp.close();
  }
}
