package dev.verbatim.shuffle.ui;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what has changed into the event log, so that the history server can show it: soon in the
 * beginning, then less and less often, and all at the end of the application. What that adds to an
 * event log is bounded: 1,000 rows of some 400 bytes in five minutes.
 *
 * <p>To be in the queue of the event log, behind it: so this knows what the log has, whatever Spark
 * drops when it is behind; and the end is written there and then, since the bus takes no event any
 * more when the queues empty late. Thread-safe.
 */
public final class StatusEvents extends SparkListener {
  static final int MOST_ROWS = 1000;
  static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
  static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

  private static final Logger LOG = LoggerFactory.getLogger(StatusEvents.class);

  private final Supplier<RdmaStatus> status;
  private final Consumer<SparkListenerEvent> bus;
  private final Consumer<SparkListenerEvent> log;
  private final LongSupplier clock;
  private final Told<String, ExecutorRow> executors = new Told<>(ExecutorRow::id);
  private final Told<Integer, ShuffleRow> shuffles = new Told<>(ShuffleRow::id);
  private ApplicationRow application;
  private Duration pause = FIRST_PAUSE;
  private long postedNanos;

  /** Null until the application ends. */
  private RdmaStatus last;

  /**
   * @param bus takes events from any thread, and may lose them
   * @param log takes events from the thread of its queue
   */
  public StatusEvents(
      Supplier<RdmaStatus> status,
      Consumer<SparkListenerEvent> bus,
      Consumer<SparkListenerEvent> log) {
    this(status, bus, log, System::nanoTime);
  }

  StatusEvents(
      Supplier<RdmaStatus> status,
      Consumer<SparkListenerEvent> bus,
      Consumer<SparkListenerEvent> log,
      LongSupplier clock) {
    this.status = status;
    this.bus = bus;
    this.log = log;
    this.clock = clock;
    this.postedNanos = clock.getAsLong();
  }

  /** Posts what has changed if it is time; to be called again and again. */
  public synchronized void tick() {
    long now = clock.getAsLong();
    if (last != null || now - postedNanos < pause.toNanos()) {
      return;
    }
    postedNanos = now;
    SparkListenerRdmaStatus event = changed(status.get());
    if (event != null) {
      bus.accept(event);
      Duration twice = pause.multipliedBy(2);
      pause = twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
    }
  }

  @Override
  public synchronized void onOtherEvent(SparkListenerEvent event) {
    if (event instanceof SparkListenerRdmaStatus written) {
      tell(written);
      if (last != null) { // it was behind the end in the queue, and is older
        writeRest();
      }
    }
  }

  @Override
  public synchronized void onApplicationEnd(SparkListenerApplicationEnd event) {
    if (last == null) {
      last = status.get();
      writeRest();
    }
  }

  private void writeRest() {
    try {
      for (SparkListenerRdmaStatus rest = changed(last); rest != null; rest = changed(last)) {
        log.accept(rest);
        tell(rest);
      }
    } catch (RuntimeException e) {
      LOG.warn("The event log will not have all of what the tab RDMA shows", e);
    }
  }

  private void tell(SparkListenerRdmaStatus event) {
    application = event.application();
    executors.tell(event.executors(), event.forgottenExecutors());
    shuffles.tell(event.shuffles(), event.forgottenShuffles());
  }

  /** Null if the log has it all. */
  private SparkListenerRdmaStatus changed(RdmaStatus now) {
    List<ExecutorRow> changedExecutors = executors.changed(now.executors(), MOST_ROWS);
    List<ShuffleRow> changedShuffles =
        shuffles.changed(now.shuffles(), MOST_ROWS - changedExecutors.size());
    List<String> forgottenExecutors = executors.forgotten(now.executors());
    List<Integer> forgottenShuffles = shuffles.forgotten(now.shuffles());
    return changedExecutors.isEmpty()
            && changedShuffles.isEmpty()
            && forgottenExecutors.isEmpty()
            && forgottenShuffles.isEmpty()
            && now.application().equals(application)
        ? null
        : new SparkListenerRdmaStatus(
            now.application(),
            changedExecutors,
            changedShuffles,
            forgottenExecutors,
            forgottenShuffles);
  }
}
