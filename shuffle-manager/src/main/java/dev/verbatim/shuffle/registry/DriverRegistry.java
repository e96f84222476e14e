package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.shuffle.metrics.ShuffleReport;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.PeerState;
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
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
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
  private final IntPredicate live;
  private final TableSharing how;
  private final ScheduledExecutorService timer;
  private final Map<Integer, ShuffleTable> tables = new HashMap<>();
  private final Map<String, PeerState> peers = new HashMap<>();
  private final ExecutorLedger ledger = new ExecutorLedger();
  private final Map<Integer, List<Waiter>> waiters = new HashMap<>();

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
    this.live = live;
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
        ledger.announce(executorId, message.mode());
        PeerState now =
            message.listener() == null
                ? new PeerState.Off(executorId, message.mode())
                : new PeerState.On(message.listener());
        PeerState before = peers.put(executorId, now);
        if (before != null && !before.equals(now)) {
          tables.values().forEach(ShuffleTable::forgetAnswers);
        }
        List.copyOf(waiters.keySet()).forEach(shuffleId -> collectReady(shuffleId, answers));
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
      Set<Integer> touched = new HashSet<>();
      for (Publish.Entry entry : message.entries()) {
        int shuffleId = entry.shuffleId();
        if (!live.test(shuffleId)) {
          gone.add(shuffleId);
        } else if (peers.containsKey(entry.output().executorId())) {
          table(shuffleId).add(entry.output());
          touched.add(shuffleId);
        }
      }
      touched.forEach(shuffleId -> collectReady(shuffleId, answers));
    }
    answers.forEach(Runnable::run);
    return new Taken(List.copyOf(gone));
  }

  private ShuffleTable table(int shuffleId) {
    ShuffleTable table = tables.get(shuffleId);
    if (table == null) {
      // Spark's cleaner tells of a removal first and then has its tracker forget the shuffle: of
      // records that came in between nobody would tell again.
      for (int id : List.copyOf(tables.keySet())) {
        if (!live.test(id)) {
          drop(id);
        }
      }
      table = new ShuffleTable();
      tables.put(shuffleId, table);
    }
    return table;
  }

  synchronized void report(Report message) {
    ledger.report(message.executorId(), message.counters());
  }

  synchronized Table sync(Sync message) {
    boolean gone = !live.test(message.shuffleId());
    ShuffleTable table = tables.get(message.shuffleId());
    if (table == null) {
      return new Table(gone, 0, false, List.of(), List.of());
    }
    ShuffleTable.Chunk chunk = table.from(message.position());
    Set<String> executors = new LinkedHashSet<>();
    chunk.outputs().forEach(output -> executors.add(output.executorId()));
    return new Table(gone, chunk.position(), chunk.more(), states(executors), chunk.outputs());
  }

  /**
   * Answers as bytes, which are kept for others who ask the same; at once, or when a large table is
   * shared.
   */
  void sync(Sync message, Function<Message, byte[]> encode, Consumer<byte[]> reply) {
    ShuffleTable.Sharing sharing;
    boolean more = false;
    synchronized (this) {
      sharing = sharing(message, encode);
      if (sharing != null) {
        more = sharing.end() < tables.get(message.shuffleId()).length();
      }
    }
    if (sharing == null) {
      reply.accept(encoded(message, encode));
      return;
    }
    int end = sharing.end();
    boolean goesOn = more;
    sharing
        .table()
        .whenComplete(
            (table, error) -> {
              if (error != null) {
                LOG.warn("share", "A table could not be shared, executors get copies", error);
              }
              reply.accept(
                  error == null
                      ? encode.apply(new Shared(table.reference(), end, goesOn))
                      : encoded(message, encode));
            });
  }

  private ShuffleTable.Sharing sharing(Sync message, Function<Message, byte[]> encode) {
    ShuffleTable table = tables.get(message.shuffleId());
    boolean may = how != null && message.shareable() && message.position() == 0;
    if (!may || table == null || !live.test(message.shuffleId())) {
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
    return table == null || !live.test(message.shuffleId())
        ? make.get()
        : table.answer(message.position(), make);
  }

  /** Answers at once, or when the records are there, or when the hold time is over. */
  void await(Await message, Consumer<Table> reply) {
    Table answer;
    synchronized (this) {
      Waiter waiter = new Waiter(message, reply);
      boolean worthWaiting = live.test(message.shuffleId()) && !hold.isZero();
      if (worthWaiting && !ready(message) && schedule(waiter)) {
        waiters.computeIfAbsent(message.shuffleId(), key -> new ArrayList<>()).add(waiter);
        return;
      }
      answer = answer(message);
    }
    reply.accept(answer);
  }

  /** False when the application is about to end. */
  private boolean schedule(Waiter waiter) {
    try {
      waiter.deadline = timer.schedule(() -> expire(waiter), hold.toNanos(), TimeUnit.NANOSECONDS);
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
      tables.values().forEach(table -> table.removeExecutor(executorId));
      List.copyOf(waiters.keySet()).forEach(shuffleId -> collectReady(shuffleId, answers));
    }
    answers.forEach(Runnable::run);
  }

  public void removeShuffle(int shuffleId) {
    List<Runnable> answers = new ArrayList<>();
    synchronized (this) {
      drop(shuffleId);
      List<Waiter> waiting = waiters.remove(shuffleId);
      if (waiting != null) {
        waiting.forEach(waiter -> answers.add(waiter.answered(answer(waiter.question))));
      }
    }
    answers.forEach(Runnable::run);
  }

  private void drop(int shuffleId) {
    ShuffleTable table = tables.remove(shuffleId);
    if (table != null) {
      table.forgetAnswers();
    }
  }

  public synchronized ShuffleReport report() {
    return ledger.report();
  }

  /** Records held, for tests and user interfaces. */
  public synchronized int records() {
    return tables.values().stream().mapToInt(ShuffleTable::size).sum();
  }

  /**
   * Whether nothing more will come. Who is not known yet has map outputs, so its announcement is
   * under way.
   */
  private boolean ready(Await question) {
    String executorId = question.executorId();
    return peers.get(executorId) instanceof PeerState.Off
        || ledger.isLost(executorId)
        || complete(question);
  }

  private boolean complete(Await question) {
    ShuffleTable table = tables.get(question.shuffleId());
    if (table == null) {
      return false;
    }
    for (long mapId : question.mapIds()) {
      if (!table.settled(mapId)) {
        return false;
      }
    }
    return true;
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
    outputs.forEach(output -> executors.add(output.executorId()));
    boolean gone = !live.test(question.shuffleId());
    return new Table(gone, 0, false, states(executors), outputs);
  }

  private List<PeerState> states(Set<String> executors) {
    return executors.stream()
        .map(id -> Objects.requireNonNullElse(peers.get(id), unknown(id)))
        .toList();
  }

  private static PeerState unknown(String executorId) {
    return new PeerState.Off(executorId, "it is not known to the driver's registry");
  }

  private void collectReady(int shuffleId, List<Runnable> answers) {
    List<Waiter> waiting = waiters.getOrDefault(shuffleId, List.of());
    for (Iterator<Waiter> it = waiting.iterator(); it.hasNext(); ) {
      Waiter waiter = it.next();
      if (ready(waiter.question)) {
        it.remove();
        answers.add(waiter.answered(answer(waiter.question)));
      }
    }
    if (waiting.isEmpty()) {
      waiters.remove(shuffleId);
    }
  }

  private void expire(Waiter waiter) {
    Table answer;
    synchronized (this) {
      List<Waiter> waiting = waiters.get(waiter.question.shuffleId());
      if (waiting == null || !waiting.remove(waiter)) {
        return;
      }
      if (waiting.isEmpty()) {
        waiters.remove(waiter.question.shuffleId());
      }
      answer = answer(waiter.question);
    }
    waiter.reply(answer);
  }

  private static final class Waiter {
    private final Await question;
    private final Consumer<Table> reply;
    private ScheduledFuture<?> deadline;

    Waiter(Await question, Consumer<Table> reply) {
      this.question = question;
      this.reply = reply;
    }

    Runnable answered(Table answer) {
      deadline.cancel(false);
      return () -> reply(answer);
    }

    /** Others wait for their answers too, so what one throws ends here. */
    void reply(Table answer) {
      try {
        reply.accept(answer);
      } catch (RuntimeException | Error e) {
        LOG.warn("answer", "An answer to an executor was lost", e);
      }
    }
  }
}
