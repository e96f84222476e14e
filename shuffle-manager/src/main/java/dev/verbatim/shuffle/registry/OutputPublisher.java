package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.transport.PeerAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/**
 * Tells the driver about this executor: how it is equipped, its records in batches, its counters
 * when they changed. What the driver does not say it has taken is sent again, but for the counters,
 * which the next report brings. Nobody waits for it.
 *
 * <p>A message costs the driver far more than a record in it. So while map tasks of a shuffle run
 * in this executor its records wait for theirs: nobody reads a shuffle before all of its map tasks
 * have ended.
 */
public final class OutputPublisher {
  static final int MOST_RECORDS = 512;

  /** Records, of a few hundred bytes each, that may wait for the driver. */
  static final int MOST_PENDING = 65_536;

  private static final ThrottledLog LOG =
      new ThrottledLog(LoggerFactory.getLogger(OutputPublisher.class));
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);

  /**
   * Copies of a map task may run on when their shuffle is read: less than readers wait for a
   * record.
   */
  static final Duration LONGEST_GATHERING = Duration.ofSeconds(1);

  private final DriverLink driver;
  private final ShuffleCounters counters;
  private final ScheduledExecutorService timer;
  private final Duration delay;
  private final Duration longestGathering;
  private final Persistence persistence;

  /** Records that are not under way, oldest first. */
  private List<Pending> gathered = new ArrayList<>();

  /** Records that the driver has not answered yet. */
  private int underWay;

  /** Whether what is gathered is to go with the next message, however little it is. */
  private boolean due;

  /** Whether the timer is to look soon. */
  private boolean soonCheck;

  /** Whether the timer is to look when the oldest record has waited for the longest time. */
  private boolean lateCheck;

  /** Map tasks of each shuffle that run now. */
  private final Map<Integer, Integer> running = new HashMap<>();

  /** Tasks that read a shuffle now. */
  private int reading;

  private CounterSnapshot reported = CounterSnapshot.ZERO;
  private Announcement announcement;

  /** The driver's answer; before it the driver would not keep records. */
  private CompletableFuture<Void> announced;

  private record Pending(Publish.Entry entry, Runnable tooLate, long since) {}

  private record Announcement(PeerAddress listener, String device, String mode) {}

  /**
   * @param delay how long records are gathered before they are sent; longer while map tasks of
   *     their shuffle run
   * @param hold how long readers wait for a record
   * @param reportInterval how often changed counters are sent
   */
  public OutputPublisher(
      DriverLink driver,
      ShuffleCounters counters,
      ScheduledExecutorService timer,
      Duration delay,
      Duration hold,
      Duration reportInterval) {
    this(driver, counters, timer, delay, longestGathering(hold), reportInterval, FIRST_PAUSE);
  }

  private static Duration longestGathering(Duration hold) {
    Duration half = hold.dividedBy(2);
    return half.compareTo(LONGEST_GATHERING) < 0 ? half : LONGEST_GATHERING;
  }

  OutputPublisher(
      DriverLink driver,
      ShuffleCounters counters,
      ScheduledExecutorService timer,
      Duration delay,
      Duration longestGathering,
      Duration reportInterval,
      Duration firstPause) {
    this.driver = driver;
    this.counters = counters;
    this.timer = timer;
    this.delay = delay;
    this.longestGathering = longestGathering;
    this.persistence = new Persistence(timer, firstPause);
    timer.scheduleWithFixedDelay(
        this::report, reportInterval.toMillis(), reportInterval.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * Says how this executor is equipped; to be called before there are records, and again when that
   * has changed.
   *
   * @param listener null when RDMA is off
   * @param device and port, for people; empty when RDMA is off
   */
  public synchronized void announce(PeerAddress listener, String device, String mode) {
    announcement = new Announcement(listener, device, mode);
    announced = null;
    announced();
  }

  private synchronized CompletableFuture<Void> sendAnnouncement() {
    return driver.announce(announcement.listener(), announcement.device(), announcement.mode());
  }

  /** Tries once more when the driver has not answered for long. */
  private synchronized CompletableFuture<Void> announced() {
    if (announced == null || announced.isCompletedExceptionally()) {
      // The newest one, also where an older one is being sent again.
      announced = persistence.ask(this::sendAnnouncement).thenRun(this::reportAgain);
    }
    return announced;
  }

  /** Counters of an executor that it did not know, the driver has not taken. */
  private synchronized void reportAgain() {
    reported = CounterSnapshot.ZERO;
    report();
  }

  /** A map task begins to write; {@link #mapTaskEnds} is to follow. */
  public synchronized void mapTaskBegins(int shuffleId) {
    running.merge(shuffleId, 1, Integer::sum);
  }

  /** A map task is done; its own record may come later. */
  public synchronized void mapTaskEnds(int shuffleId) {
    running.computeIfPresent(shuffleId, (id, count) -> count > 1 ? count - 1 : null);
    if (!running.containsKey(shuffleId) && !gathered.isEmpty()) {
      checkSoon();
    }
  }

  /**
   * Sends a record with the next batch.
   *
   * @param tooLate called when the driver answers that there is no such shuffle any more
   */
  public void publish(int shuffleId, MapOutputLocation output, Runnable tooLate) {
    synchronized (this) {
      if (gathered.size() + underWay == MOST_PENDING) {
        LOG.warn("full", "Too many records wait for the driver's registry: this one is lost", null);
        return;
      }
      gathered.add(new Pending(new Publish.Entry(shuffleId, output), tooLate, System.nanoTime()));
      if (gathered.size() == 1 || !running.containsKey(shuffleId)) {
        checkSoon();
      }
    }
    flush();
  }

  private synchronized void checkSoon() {
    if (!soonCheck) {
      soonCheck = schedule(() -> check(false), delay.toNanos());
    }
  }

  /** False when the application is about to end: then nothing waits. */
  private synchronized boolean schedule(Runnable check, long nanos) {
    try {
      timer.schedule(check, nanos, TimeUnit.NANOSECONDS);
      return true;
    } catch (RejectedExecutionException e) {
      due = true;
      return false;
    }
  }

  private void check(boolean late) {
    synchronized (this) {
      if (late) {
        lateCheck = false;
      } else {
        soonCheck = false;
      }
      decide();
    }
    flush();
  }

  /** Whether what is gathered is to be sent now, or has reason to wait, and time. */
  private void decide() {
    if (due || gathered.isEmpty()) {
      return;
    }
    long left = longestGathering.toNanos() - (System.nanoTime() - gathered.getFirst().since());
    if (left <= 0 || !gathered.stream().allMatch(this::waitsForOthers)) {
      due = true;
    } else if (!lateCheck) {
      lateCheck = schedule(() -> check(true), left);
    }
  }

  private boolean waitsForOthers(Pending record) {
    return running.containsKey(record.entry().shuffleId());
  }

  /** Sends what is gathered if it is a full batch, or due. */
  private void flush() {
    List<Pending> batch;
    synchronized (this) {
      if (gathered.isEmpty() || !(due || gathered.size() >= MOST_RECORDS)) {
        return;
      }
      batch = gathered;
      gathered = new ArrayList<>();
      underWay += batch.size();
      due = false;
    }
    send(batch).whenComplete((gone, error) -> ended(batch, gone, error));
  }

  private CompletableFuture<List<Integer>> send(List<Pending> batch) {
    try {
      Publish message = new Publish(batch.stream().map(Pending::entry).toList());
      return announced().thenCompose(done -> persistence.ask(() -> driver.publish(message)));
    } catch (RuntimeException | Error e) { // or else they would count for ever
      return CompletableFuture.failedFuture(e);
    }
  }

  private void ended(List<Pending> batch, List<Integer> gone, Throwable error) {
    synchronized (this) {
      underWay -= batch.size();
    }
    if (error != null) {
      LOG.warn(
          "lost",
          "The driver's registry has not taken the records of "
              + batch.size()
              + " map outputs: peers fetch them over TCP",
          error);
      return;
    }
    for (Pending record : batch) {
      if (gone.contains(record.entry().shuffleId())) {
        record.tooLate().run();
      }
    }
  }

  /** A task begins to read a shuffle; {@link #readTaskEnds} is to follow. */
  public synchronized void readTaskBegins() {
    reading++;
  }

  /**
   * A task that reads a shuffle is about to send its result. The last one sends the counters first,
   * so that the driver's numbers are right when an action returns and nothing else runs. From each
   * task it would be as many messages as the records' that are saved by gathering.
   */
  public synchronized void readTaskEnds() {
    reading--;
    if (reading == 0) {
      report();
    }
  }

  /** Sends the counters if they have changed; sends are in order, so the driver has the latest. */
  public synchronized void report() {
    CounterSnapshot now = counters.snapshot();
    if (!now.equals(reported)) {
      reported = now;
      driver.report(now);
    }
  }
}
