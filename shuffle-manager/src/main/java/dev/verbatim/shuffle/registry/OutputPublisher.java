package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.transport.PeerAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/**
 * Tells the driver about this executor: how it is equipped, its records in batches, its counters
 * when they changed. What the driver does not say it has taken is sent again, but for the counters,
 * which the next report brings. Nobody waits for it.
 */
public final class OutputPublisher {
  static final int MOST_RECORDS = 512;

  /** Records, of a few hundred bytes each, that may wait for the driver. */
  static final int MOST_PENDING = 65_536;

  private static final ThrottledLog LOG =
      new ThrottledLog(LoggerFactory.getLogger(OutputPublisher.class));
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);

  private final DriverLink driver;
  private final ShuffleCounters counters;
  private final ScheduledExecutorService timer;
  private final Duration delay;
  private final Persistence persistence;
  private List<Pending> gathered = new ArrayList<>();
  private int pending;
  private CounterSnapshot reported = CounterSnapshot.ZERO;
  private Announcement announcement;

  /** The driver's answer; before it the driver would not keep records. */
  private CompletableFuture<Void> announced;

  private record Pending(Publish.Entry entry, Runnable tooLate) {}

  private record Announcement(PeerAddress listener, String mode) {}

  /**
   * @param delay how long records are gathered before they are sent
   * @param reportInterval how often changed counters are sent
   */
  public OutputPublisher(
      DriverLink driver,
      ShuffleCounters counters,
      ScheduledExecutorService timer,
      Duration delay,
      Duration reportInterval) {
    this(driver, counters, timer, delay, reportInterval, FIRST_PAUSE);
  }

  OutputPublisher(
      DriverLink driver,
      ShuffleCounters counters,
      ScheduledExecutorService timer,
      Duration delay,
      Duration reportInterval,
      Duration firstPause) {
    this.driver = driver;
    this.counters = counters;
    this.timer = timer;
    this.delay = delay;
    this.persistence = new Persistence(timer, firstPause);
    timer.scheduleWithFixedDelay(
        this::report, reportInterval.toMillis(), reportInterval.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * Says how this executor is equipped; to be called before there are records, and again when that
   * has changed.
   *
   * @param listener null when RDMA is off
   */
  public synchronized void announce(PeerAddress listener, String mode) {
    announcement = new Announcement(listener, mode);
    announced = null;
    announced();
  }

  private synchronized CompletableFuture<Void> sendAnnouncement() {
    return driver.announce(announcement.listener(), announcement.mode());
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

  /**
   * Sends a record with the next batch.
   *
   * @param tooLate called when the driver answers that there is no such shuffle any more
   */
  public void publish(int shuffleId, MapOutputLocation output, Runnable tooLate) {
    boolean first;
    boolean full;
    synchronized (this) {
      if (pending == MOST_PENDING) {
        LOG.warn("full", "Too many records wait for the driver's registry: this one is lost", null);
        return;
      }
      pending++;
      gathered.add(new Pending(new Publish.Entry(shuffleId, output), tooLate));
      first = gathered.size() == 1;
      full = gathered.size() >= MOST_RECORDS;
    }
    if (full) {
      flush();
    } else if (first) {
      try {
        timer.schedule(this::flush, delay.toNanos(), TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException e) {
        flush();
      }
    }
  }

  private void flush() {
    List<Pending> batch;
    synchronized (this) {
      batch = gathered;
      gathered = new ArrayList<>();
    }
    if (!batch.isEmpty()) {
      Publish message = new Publish(batch.stream().map(Pending::entry).toList());
      announced()
          .thenCompose(done -> persistence.ask(() -> driver.publish(message)))
          .whenComplete((gone, error) -> ended(batch, gone, error));
    }
  }

  private void ended(List<Pending> batch, List<Integer> gone, Throwable error) {
    synchronized (this) {
      pending -= batch.size();
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

  /** Sends the counters if they have changed; sends are in order, so the driver has the latest. */
  public synchronized void report() {
    CounterSnapshot now = counters.snapshot();
    if (!now.equals(reported)) {
      reported = now;
      driver.report(now);
    }
  }
}
