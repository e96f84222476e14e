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
  private List<Pending> gathered = new ArrayList<>();
  private CounterSnapshot reported = CounterSnapshot.ZERO;

  private record Pending(Publish.Entry entry, Runnable tooLate) {}

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

  /**
   * Sends a record with the next batch.
   *
   * @param tooLate called when the driver answers that there is no such shuffle any more
   */
  public void publish(int shuffleId, MapOutputLocation output, Runnable tooLate) {
    boolean first;
    boolean full;
    synchronized (this) {
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
      driver
          .publish(new Publish(batch.stream().map(Pending::entry).toList()))
          .thenAccept(gone -> drop(batch, gone));
    }
  }

  private static void drop(List<Pending> batch, List<Integer> gone) {
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
