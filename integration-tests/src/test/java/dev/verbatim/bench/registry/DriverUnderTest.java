package dev.verbatim.bench.registry;

import dev.verbatim.shuffle.registry.DriverRegistry;
import dev.verbatim.shuffle.registry.RegistryEndpoint;
import dev.verbatim.shuffle.registry.SparkBroadcasts;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BroadcastBlockId;

/**
 * A real driver, whose executors are simulated by another process. It carries shuffles that nobody
 * runs: their records in our registry, or their statuses in Spark's map output tracker.
 */
final class DriverUnderTest implements AutoCloseable {
  private static final int MOST_EXECUTORS = 1000;

  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
  private final SparkContext context;
  private final CountedBroadcasts broadcasts;
  private final DriverRegistry registry;
  private final ExecutorsProcess executors;
  private final SparkStatuses spark;
  private final boolean atOnce;
  private int shuffles;

  /**
   * @param copies each executor gets a copy of the records from the driver, however many they are
   * @param atOnce all executors ask for a broadcast before one has it
   */
  DriverUnderTest(boolean copies, boolean atOnce) throws IOException {
    this.atOnce = atOnce;
    context =
        new SparkContext(
            new SparkConf(false)
                .setMaster("local[1]")
                .setAppName("registry")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1"));
    // A driver that runs no tasks itself makes its broadcasts otherwise.
    SparkEnv.get().conf().set("spark.master", "spark://simulated:7077");
    broadcasts = new CountedBroadcasts(new SparkBroadcasts(SparkEnv.get()));
    registry =
        new DriverRegistry(Duration.ZERO, timer, shuffleId -> true, copies ? null : broadcasts);
    RegistryEndpoint.open(SparkEnv.get().rpcEnv(), registry);
    BytesEndpoint.open(SparkEnv.get().rpcEnv());
    spark = new SparkStatuses();
    executors = new ExecutorsProcess(SparkEnv.get().rpcEnv().address());
    executors.run("announce", MOST_EXECUTORS);
  }

  /** Both sides carry a shuffle in each round, by turns; rounds before those counted warm up. */
  void compare(SimulatedShuffle shuffle, int warmUp, int rounds, Costs ours, Costs theirs)
      throws Exception {
    storage(shuffle.executors());
    for (int round = -warmUp; round < rounds; round++) {
      Costs ourRound = round < 0 ? new Costs() : ours;
      Costs theirRound = round < 0 ? new Costs() : theirs;
      if (round % 2 == 0) {
        ours(shuffle, ourRound);
        theirs(shuffle, theirRound);
      } else {
        theirs(shuffle, theirRound);
        ours(shuffle, ourRound);
      }
      System.out.printf("round %d: ours%s; theirs%s%n", round, ourRound, theirRound);
    }
  }

  /** There shall be block managers of so many executors, to each of which Spark's driver speaks. */
  private void storage(int count) throws IOException {
    for (int executor = count; executor < MOST_EXECUTORS; executor++) {
      SparkEnv.get().blockManager().master().removeExecutor(SimulatedShuffle.executorId(executor));
    }
    executors.run("storage", count);
  }

  private void ours(SimulatedShuffle shuffle, Costs costs) throws Exception {
    DriverCpu publishing = new DriverCpu();
    DriverCpu answering = new DriverCpu();
    int shuffleId = publish(shuffle, Integer.MAX_VALUE, publishing);
    Set<String> before = broadcastPieces();
    long[] sent = new long[1];
    answering.count(
        () -> sent[0] = executors.run("tables", shuffleId, shuffle.maps(), shuffle.executors()));
    long broadcast = broadcasts.bytes().getAndSet(0);
    Set<String> pieces = fetchBroadcast(before, broadcast, answering);
    spreadAndRemove(pieces, () -> registry.removeShuffle(shuffleId), costs);
    costs.add("in", publishing.millis());
    costs.add("out", answering.millis());
    addSum(costs);
    costs.add("table", broadcast + (double) sent[0] / shuffle.executors());
    costs.add("sent", broadcast + sent[0]);
  }

  /** Microseconds of CPU for each record when so many come in a message. */
  double publishMicros(SimulatedShuffle shuffle, int recordsPerMessage) throws Exception {
    DriverCpu publishing = new DriverCpu();
    registry.removeShuffle(publish(shuffle, recordsPerMessage, publishing));
    return publishing.millis() * 1000 / shuffle.maps();
  }

  /** Microseconds of CPU for each record when executors publish as their map tasks end. */
  double pacedMicros(SimulatedShuffle shuffle) throws Exception {
    System.gc();
    int shuffleId = shuffles++;
    DriverCpu cpu = new DriverCpu();
    cpu.count(
        () -> {
          executors.run("pace", shuffleId, shuffle.maps(), shuffle.executors(), shuffle.reducers());
          while (registry.records() < shuffle.maps()) {
            Thread.sleep(10);
          }
        });
    registry.removeShuffle(shuffleId);
    return cpu.millis() * 1000 / shuffle.maps();
  }

  /** Microseconds of CPU for each of so many empty messages, with empty answers. */
  double emptyMicros(int messages) throws Exception {
    System.gc();
    DriverCpu cpu = new DriverCpu();
    cpu.count(() -> executors.run("bring", messages, 0));
    return cpu.millis() * 1000 / messages;
  }

  /** Microseconds of CPU to read and to register a map status. */
  double statusMicros(SimulatedShuffle shuffle) throws Exception {
    DriverCpu cpu = new DriverCpu();
    int shuffleId = shuffles++;
    spark.register(shuffleId, shuffle, cpu, cpu);
    spark.unregister(shuffleId);
    return cpu.millis() * 1000 / shuffle.maps();
  }

  private int publish(SimulatedShuffle shuffle, int recordsPerMessage, DriverCpu cpu)
      throws Exception {
    System.gc();
    int shuffleId = shuffles++;
    cpu.count(
        () ->
            executors.run(
                "publish",
                shuffleId,
                shuffle.maps(),
                shuffle.executors(),
                shuffle.reducers(),
                recordsPerMessage));
    if (registry.records() != shuffle.maps()) {
      throw new IllegalStateException(registry.records() + " records are there");
    }
    return shuffleId;
  }

  private void theirs(SimulatedShuffle shuffle, Costs costs) throws Exception {
    double bringing = bringingMillis(shuffle);
    System.gc();
    int shuffleId = shuffles++;
    DriverCpu reading = new DriverCpu();
    DriverCpu registering = new DriverCpu();
    DriverCpu answering = new DriverCpu();
    long[] sent = new long[1];
    spark.register(shuffleId, shuffle, reading, registering);
    Set<String> before = broadcastPieces();
    answering.count(() -> sent[0] = executors.run("statuses", shuffleId, shuffle.executors()));
    long broadcast = spark.broadcastBytes(shuffleId);
    Set<String> pieces = fetchBroadcast(before, broadcast, answering);
    spreadAndRemove(pieces, () -> spark.unregister(shuffleId), costs);
    costs.add("bring", bringing);
    costs.add("in", bringing + reading.millis() + registering.millis());
    costs.add("out", answering.millis());
    addSum(costs);
    costs.add("table", broadcast + (double) sent[0] / shuffle.executors());
    costs.add("sent", broadcast + sent[0]);
  }

  private void spreadAndRemove(Set<String> pieces, DriverCpu.Work removal, Costs costs)
      throws Exception {
    DriverCpu spreading = new DriverCpu();
    DriverCpu removing = new DriverCpu();
    if (!pieces.isEmpty()) {
      spreading.count(
          () -> {
            executors.run(command(List.of("spread", atOnce), pieces));
            context.listenerBus().waitUntilEmpty();
          });
    }
    removing.count(
        () -> {
          removal.run();
          if (!pieces.isEmpty()) {
            executors.run(command(List.of("remove"), pieces));
            context.listenerBus().waitUntilEmpty();
          }
        });
    costs.add("spread", spreading.millis());
    costs.add("remove", removing.millis());
  }

  private static void addSum(Costs costs) {
    double cpu = 0;
    for (String part : List.of("in", "out", "spread", "remove")) {
      cpu += costs.get(part).getLast();
    }
    costs.add("cpu", cpu);
    costs.add("in and out", costs.get("in").getLast() + costs.get("out").getLast());
  }

  private static Object[] command(List<Object> words, Set<String> pieces) {
    List<Object> command = new ArrayList<>(words);
    command.addAll(pieces);
    return command.toArray();
  }

  private static Set<String> broadcastPieces() {
    Set<String> pieces = new TreeSet<>();
    SparkEnv.get()
        .blockManager()
        .getMatchingBlockIds(
            id -> id instanceof BroadcastBlockId block && block.field().startsWith("piece"))
        .foreach(id -> pieces.add(id.name()));
    return pieces;
  }

  /**
   * Has an executor fetch what was broadcast: executors give it on to each other, and the driver
   * sends it once at least.
   *
   * @param before pieces of earlier broadcasts
   * @param bytes of what was broadcast now; 0 if nothing was
   * @return its pieces
   */
  private Set<String> fetchBroadcast(Set<String> before, long bytes, DriverCpu answering)
      throws Exception {
    if (bytes == 0) {
      return Set.of();
    }
    Set<String> pieces = broadcastPieces();
    pieces.removeAll(before);
    BlockManagerId driver = SparkEnv.get().blockManager().blockManagerId();
    Object[] command = command(List.of("fetch", driver.host(), driver.port()), pieces);
    long[] fetched = new long[1];
    answering.count(() -> fetched[0] = executors.run(command));
    if (fetched[0] < bytes / 2) { // it is compressed as far as it can be
      throw new IllegalStateException(fetched[0] + " bytes of " + bytes + ": " + pieces);
    }
    return pieces;
  }

  /**
   * CPU that it takes to receive the bytes of all statuses. The results of tasks, which bring them,
   * would come without them too: so this is what large messages cost more than empty ones. Real
   * results are copied more often.
   */
  private double bringingMillis(SimulatedShuffle shuffle) throws Exception {
    long bytes = spark.bytes(shuffle) / shuffle.executors();
    DriverCpu large = new DriverCpu();
    DriverCpu empty = new DriverCpu();
    System.gc();
    large.count(() -> executors.run("bring", shuffle.executors(), bytes));
    empty.count(() -> executors.run("bring", shuffle.executors(), 0));
    return Math.max(0, large.millis() - empty.millis());
  }

  @Override
  public void close() {
    executors.close();
    context.stop();
    timer.shutdownNow();
  }
}
