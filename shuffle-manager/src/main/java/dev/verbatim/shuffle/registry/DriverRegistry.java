package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.shuffle.metrics.ApplicationView;
import dev.verbatim.shuffle.metrics.ShuffleOutputs;
import dev.verbatim.shuffle.metrics.ShuffleReport;
import dev.verbatim.shuffle.metrics.ShuffleReport.ExecutorReport;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.shuffle.registry.HeldQuestions.Held;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Report;
import dev.verbatim.shuffle.registry.Message.Shared;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import dev.verbatim.shuffle.registry.Message.Taken;
import dev.verbatim.shuffle.registry.Message.Welcome;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * What the driver knows: who the executors are, where their map outputs are, what they have moved.
 * Thread-safe; nothing here waits.
 */
public final class DriverRegistry {
  private static final ThrottledLog LOG =
      new ThrottledLog(LoggerFactory.getLogger(DriverRegistry.class));

  private final byte[] token = new byte[32];
  private final Duration hold;
  private final TableSharing how;
  private final ScheduledExecutorService timer;
  private final ShuffleTables tables;
  private final Map<String, PeerState> peers = new HashMap<>();
  private final ExecutorLedger ledger = new ExecutorLedger();
  private final HeldQuestions questions = new HeldQuestions();

  /**
   * @param hold how long an answer may be held back for records that are still missing
   * @param live whether Spark has this shuffle now; false soon before or after {@link
   *     #removeShuffle}, and true again when it recomputes the shuffle under its old id
   */
  public DriverRegistry(Duration hold, ScheduledExecutorService timer, IntPredicate live) {
    this(hold, timer, live, null);
  }

  /**
   * @param how how large tables are shared; null if they are not
   */
  public DriverRegistry(
      Duration hold, ScheduledExecutorService timer, IntPredicate live, TableSharing how) {
    this.how = how;
    this.hold = hold;
    this.timer = timer;
    this.tables = new ShuffleTables(live);
    new SecureRandom().nextBytes(token);
  }

  Welcome welcome() {
    return new Welcome(token);
  }

  /** A lost executor does not come back: what it has said last comes late. */
  Taken announce(Announce message) {
    String executorId = message.executorId();
    List<Runnable> answers = new ArrayList<>();
    synchronized (this) {
      if (!ledger.isLost(executorId)) {
        ledger.announce(executorId, message.device(), message.mode());
        PeerState now =
            message.listener() == null
                ? new PeerState.Off(executorId, message.mode())
                : new PeerState.On(message.listener());
        PeerState before = peers.put(executorId, now);
        if (before != null && !before.equals(now)) {
          tables.forgetAnswers();
        }
        if (message.listener() == null) { // or else its records are waited for on
          settle(questions.takeAll(), answers);
        }
      }
    }
    answers.forEach(Runnable::run);
    return new Taken(List.of());
  }

  /** Keeps records of live shuffles only: nobody would remove the others. */
  Taken publish(Publish message) {
    List<Runnable> answers = new ArrayList<>();
    Set<Integer> gone = new HashSet<>();
    synchronized (this) {
      List<Publish.Entry> kept = new ArrayList<>(message.entries().size());
      Publish.Entry before = null;
      ShuffleTable table = null;
      boolean known = false;
      for (Publish.Entry entry : message.entries()) {
        // A message's records are mostly of one shuffle, and of one executor.
        if (before == null || before.shuffleId() != entry.shuffleId()) {
          table = tables.open(entry.shuffleId());
        }
        if (before == null || !isOfSameExecutor(before, entry)) {
          known = peers.containsKey(entry.output().executorId());
        }
        if (table == null) {
          gone.add(entry.shuffleId());
        } else if (known) {
          table.add(entry.output());
          kept.add(entry);
        }
        before = entry;
      }
      if (!questions.isEmpty()) {
        for (Publish.Entry entry : kept) {
          settle(questions.take(entry.shuffleId(), entry.output().mapId()), answers);
        }
      }
    }
    answers.forEach(Runnable::run);
    return new Taken(List.copyOf(gone));
  }

  private static boolean isOfSameExecutor(Publish.Entry one, Publish.Entry other) {
    return one.output().executorId().equals(other.output().executorId());
  }

  synchronized void report(Report message) {
    ledger.report(message.executorId(), message.counters());
  }

  synchronized Table sync(Sync message) {
    boolean gone = !tables.isLive(message.shuffleId());
    ShuffleTable table = tables.get(message.shuffleId());
    if (table == null) {
      return new Table(gone, 0, false, List.of(), List.of());
    }
    ShuffleTable.Chunk chunk = table.from(message.position());
    Set<String> executors = new LinkedHashSet<>();
    addExecutors(chunk.outputs(), executors);
    return new Table(gone, chunk.position(), chunk.more(), states(executors), chunk.outputs());
  }

  /**
   * Answers as bytes, which are kept for others who ask the same; at once, or when a large table is
   * shared.
   */
  void sync(Sync message, Function<Message, byte[]> encode, Consumer<byte[]> reply) {
    ShuffleTable.Sharing sharing;
    boolean more;
    synchronized (this) {
      sharing = sharing(message, encode);
      more = sharing != null && sharing.end() < tables.get(message.shuffleId()).length();
    }
    if (sharing == null) {
      reply.accept(encoded(message, encode));
      return;
    }
    sharing
        .table()
        .whenComplete(
            (table, error) -> {
              if (error != null) {
                LOG.warn("share", "A table could not be shared, executors get copies", error);
              }
              reply.accept(
                  error == null
                      ? encode.apply(new Shared(table.reference(), sharing.end(), more))
                      : encoded(message, encode));
            });
  }

  private ShuffleTable.Sharing sharing(Sync message, Function<Message, byte[]> encode) {
    ShuffleTable table = tables.get(message.shuffleId());
    boolean may = how != null && message.shareable() && message.position() == 0;
    if (!may || table == null || !tables.isLive(message.shuffleId())) {
      return null;
    }
    try {
      return table.shared(
          how, position -> encoded(new Sync(message.shuffleId(), position), encode), timer);
    } catch (RejectedExecutionException e) {
      return null; // the application is about to end
    }
  }

  private synchronized byte[] encoded(Sync message, Function<Message, byte[]> encode) {
    ShuffleTable table = tables.get(message.shuffleId());
    Supplier<byte[]> make = () -> encode.apply(sync(message));
    return table == null || !tables.isLive(message.shuffleId())
        ? make.get()
        : table.answer(message.position(), make);
  }

  /** Answers at once, or when the records are there, or when the hold time is over. */
  void await(Await message, Consumer<Table> reply) {
    Table answer;
    synchronized (this) {
      Held held = new Held(message, reply);
      held.position = firstMissing(held);
      boolean worthWaiting = tables.isLive(message.shuffleId()) && !hold.isZero();
      if (worthWaiting && !isReady(held) && schedule(held)) {
        questions.hold(held);
        return;
      }
      answer = answer(message);
    }
    reply.accept(answer);
  }

  /** False when the application is about to end. */
  private boolean schedule(Held held) {
    try {
      held.deadline = timer.schedule(() -> expire(held), hold.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** Forgets where a lost executor and its map outputs are; its counters stay. */
  public void removeExecutor(String executorId) {
    List<Runnable> answers = new ArrayList<>();
    synchronized (this) {
      peers.remove(executorId);
      ledger.lose(executorId);
      tables.removeExecutor(executorId);
      settle(questions.takeAll(), answers);
    }
    answers.forEach(Runnable::run);
  }

  public void removeShuffle(int shuffleId) {
    List<Runnable> answers = new ArrayList<>();
    synchronized (this) {
      tables.remove(shuffleId);
      questions.takeShuffle(shuffleId).forEach(held -> answers.add(answered(held)));
    }
    answers.forEach(Runnable::run);
  }

  public ShuffleReport report() {
    return ShuffleReport.of(reports());
  }

  /** To be summed up without the lock: with many executors that takes its time. */
  private synchronized Map<String, ExecutorReport> reports() {
    return ledger.reports();
  }

  /** Ids of the executors that are here. */
  public synchronized Set<String> executors() {
    return Set.copyOf(peers.keySet());
  }

  /** All that metrics tell of the application. */
  public synchronized ApplicationView view() {
    long withRdma = peers.values().stream().filter(PeerState.On.class::isInstance).count();
    return new ApplicationView(ledger.reports(), executors(), (int) withRdma, records());
  }

  /** What map outputs of each shuffle there are, by its id; of those removed the last ones too. */
  public synchronized Map<Integer, ShuffleOutputs> shuffles() {
    return tables.outputs();
  }

  /** Records held, for tests and user interfaces. */
  public synchronized int records() {
    return tables.records();
  }

  /**
   * Whether nothing more will come. Who is not known yet has map outputs, so its announcement is
   * under way.
   */
  private boolean isReady(Held held) {
    String executorId = held.question.executorId();
    return peers.get(executorId) instanceof PeerState.Off
        || ledger.isLost(executorId)
        || held.position == held.question.mapIds().length;
  }

  /** Where in a question the first map output is that a record is still to come of. */
  private int firstMissing(Held held) {
    ShuffleTable table = tables.get(held.question.shuffleId());
    long[] mapIds = held.question.mapIds();
    int position = held.position;
    while (position < mapIds.length && table != null && table.settled(mapIds[position])) {
      position++;
    }
    return position;
  }

  private Table answer(Await question) {
    ShuffleTable table = tables.get(question.shuffleId());
    List<MapOutputLocation> outputs = new ArrayList<>();
    if (table != null) {
      for (long mapId : question.mapIds()) {
        MapOutputLocation output = table.get(mapId);
        if (output != null) {
          outputs.add(output);
        }
      }
    }
    Set<String> executors = new LinkedHashSet<>(List.of(question.executorId()));
    addExecutors(outputs, executors);
    boolean gone = !tables.isLive(question.shuffleId());
    return new Table(gone, 0, false, states(executors), outputs);
  }

  private static void addExecutors(List<MapOutputLocation> outputs, Set<String> executors) {
    String last = null;
    for (MapOutputLocation output : outputs) {
      if (!output.executorId().equals(last)) { // they come in batches of one executor
        last = output.executorId();
        executors.add(last);
      }
    }
  }

  private List<PeerState> states(Set<String> executors) {
    return executors.stream()
        .map(id -> Objects.requireNonNullElse(peers.get(id), unknown(id)))
        .toList();
  }

  private static PeerState unknown(String executorId) {
    return new PeerState.Off(executorId, "it is not known to the driver's registry");
  }

  /** Answers what is ready of questions that were held; the others are held on. */
  private void settle(Collection<Held> taken, List<Runnable> answers) {
    for (Held held : taken) {
      held.position = firstMissing(held);
      if (isReady(held)) {
        answers.add(answered(held));
      } else {
        questions.hold(held);
      }
    }
  }

  private Runnable answered(Held held) {
    held.deadline.cancel(false);
    Table answer = answer(held.question);
    return () -> reply(held, answer);
  }

  private void expire(Held held) {
    Table answer;
    synchronized (this) {
      if (!questions.remove(held)) {
        return;
      }
      answer = answer(held.question);
    }
    reply(held, answer);
  }

  /** Others wait for their answers too, so what one throws ends here. */
  private static void reply(Held held, Table answer) {
    try {
      held.reply.accept(answer);
    } catch (RuntimeException | Error e) {
      LOG.warn("answer", "An answer to an executor was lost", e);
    }
  }
}
