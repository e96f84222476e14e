package dev.verbatim.shuffle.ui;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * Posts what has changed as events, so that the history server can show it: soon in the beginning,
 * then less and less often, and all at the end of the application. What that adds to an event log
 * is bounded: 1,000 rows of some 400 bytes in five minutes. Thread-safe.
 */
public final class StatusEvents {
  static final int MOST_ROWS = 1000;
  static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
  static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

  private final Supplier<RdmaStatus> status;
  private final Consumer<SparkListenerEvent> bus;
  private final LongSupplier clock;
  private final Told<String, ExecutorRow> executors = new Told<>(ExecutorRow::id);
  private final Told<Integer, ShuffleRow> shuffles = new Told<>(ShuffleRow::id);
  private ApplicationRow application;
  private Duration pause = FIRST_PAUSE;
  private long postedNanos;
  private boolean ended;

  public StatusEvents(Supplier<RdmaStatus> status, Consumer<SparkListenerEvent> bus) {
    this(status, bus, System::nanoTime);
  }

  StatusEvents(Supplier<RdmaStatus> status, Consumer<SparkListenerEvent> bus, LongSupplier clock) {
    this.status = status;
    this.bus = bus;
    this.clock = clock;
    this.postedNanos = clock.getAsLong();
  }

  /** Posts what has changed if it is time; to be called again and again. */
  public synchronized void tick() {
    long now = clock.getAsLong();
    if (ended || now - postedNanos < pause.toNanos()) {
      return;
    }
    postedNanos = now;
    if (post(status.get())) {
      Duration twice = pause.multipliedBy(2);
      pause = twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
    }
  }

  /** Posts all that has not been told yet. */
  public synchronized void end() {
    if (ended) {
      return;
    }
    ended = true;
    RdmaStatus last = status.get();
    while (post(last)) {
      // the next rows
    }
  }

  private boolean post(RdmaStatus now) {
    List<ExecutorRow> changedExecutors = executors.changed(now.executors(), MOST_ROWS);
    List<ShuffleRow> changedShuffles =
        shuffles.changed(now.shuffles(), MOST_ROWS - changedExecutors.size());
    List<String> forgottenExecutors = executors.forgotten(now.executors());
    List<Integer> forgottenShuffles = shuffles.forgotten(now.shuffles());
    if (changedExecutors.isEmpty()
        && changedShuffles.isEmpty()
        && forgottenExecutors.isEmpty()
        && forgottenShuffles.isEmpty()
        && now.application().equals(application)) {
      return false;
    }
    application = now.application();
    bus.accept(
        new SparkListenerRdmaStatus(
            application, changedExecutors, changedShuffles, forgottenExecutors, forgottenShuffles));
    return true;
  }
}
