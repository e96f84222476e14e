package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.registry.Message.Publish;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Sends records and counters to the driver: records in batches, counters when they changed. */
public final class OutputPublisher {
  static final int MOST_RECORDS = 512;

  private final DriverLink driver;
  private final ShuffleCounters counters;
  private final ScheduledExecutorService timer;
  private final Duration delay;
  private List<Publish.Entry> gathered = new ArrayList<>();
  private CounterSnapshot reported = CounterSnapshot.ZERO;

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
    this.driver = driver;
    this.counters = counters;
    this.timer = timer;
    this.delay = delay;
    timer.scheduleWithFixedDelay(
        this::report, reportInterval.toMillis(), reportInterval.toMillis(), TimeUnit.MILLISECONDS);
  }

  public void publish(int shuffleId, MapOutputLocation output) {
    boolean first;
    boolean full;
    synchronized (this) {
      gathered.add(new Publish.Entry(shuffleId, output));
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
    List<Publish.Entry> entries;
    synchronized (this) {
      entries = gathered;
      gathered = new ArrayList<>();
    }
    if (!entries.isEmpty()) {
      driver.send(new Publish(entries));
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
