package dev.verbatim.bench.registry;

import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.registry.RegistryEndpoint;
import dev.verbatim.shuffle.registry.RegistryProbe;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.spark.GetMapOutputStatuses;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.rpc.RpcAddress;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.RpcEnv$;

/**
 * All executors of a simulated application in one process: they ask the driver over Spark's RPC, a
 * few at a time, and count the bytes of the answers. Reads commands from its input, and answers
 * each with one number.
 *
 * <pre>
 * announce EXECUTORS
 * publish SHUFFLE MAPS EXECUTORS REDUCERS RECORDS_PER_MESSAGE    bytes sent
 * pace SHUFFLE MAPS EXECUTORS REDUCERS    0
 * tables SHUFFLE MAPS EXECUTORS        bytes received
 * statuses SHUFFLE EXECUTORS           bytes received
 * bring EXECUTORS BYTES                bytes sent, so many by each
 * fetch HOST PORT PIECE...             bytes received by one
 * storage EXECUTORS                    0
 * spread ATONCE PIECE...               0
 * remove PIECE...                      0
 * </pre>
 */
final class SimulatedExecutors {
  private final RegistryProbe probe = new RegistryProbe();
  private final RpcEndpointRef registry;
  private final RpcEndpointRef tracker;
  private final RpcEndpointRef taker;
  private final BroadcastFetch broadcasts;
  private final PacedExecutors paced;
  private final Asks asks = new Asks();
  private final SimulatedStorage storage;
  private final AtomicLong bytes = new AtomicLong();

  private SimulatedExecutors(RpcEnv rpc, RpcAddress driver, SecurityManager security) {
    this.registry = rpc.setupEndpointRef(driver, RegistryEndpoint.NAME);
    this.tracker = rpc.setupEndpointRef(driver, "MapOutputTracker");
    this.broadcasts = new BroadcastFetch(security);
    this.paced = new PacedExecutors(registry);
    this.storage = new SimulatedStorage(rpc, driver, asks);
    this.taker = rpc.setupEndpointRef(driver, BytesEndpoint.NAME);
  }

  public static void main(String[] arguments) throws Exception {
    SparkConf conf = new SparkConf(false);
    SecurityManager security =
        new SecurityManager(
            conf,
            SecurityManager.$lessinit$greater$default$2(),
            SecurityManager.$lessinit$greater$default$3());
    RpcEnv rpc = RpcEnv$.MODULE$.create("executors", arguments[0], 0, conf, security, true);
    SimulatedExecutors executors =
        new SimulatedExecutors(
            rpc, new RpcAddress(arguments[0], Integer.parseInt(arguments[1])), security);
    try (BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
      for (String line = commands.readLine(); line != null; line = commands.readLine()) {
        System.out.println("= " + executors.run(line.split(" ")));
      }
    }
    System.exit(0);
  }

  private long run(String[] command) throws InterruptedException {
    List<String> words = List.of(command).subList(1, command.length);
    switch (command[0]) {
      case "fetch" -> {
        List<String> pieces = words.subList(2, words.size());
        return broadcasts.run(words.get(0), Integer.parseInt(words.get(1)), pieces);
      }
      case "spread" ->
          storage.spread(Boolean.parseBoolean(words.getFirst()), words.subList(1, words.size()));
      case "remove" -> storage.remove(words);
      default -> {
        return runNumbered(command[0], words);
      }
    }
    return 0;
  }

  private long runNumbered(String command, List<String> words) throws InterruptedException {
    int[] numbers = words.stream().mapToInt(Integer::parseInt).toArray();
    bytes.set(0);
    switch (command) {
      case "announce" -> announce(numbers[0]);
      case "publish" ->
          publish(numbers[0], new SimulatedShuffle(numbers[1], numbers[2], numbers[3]), numbers[4]);
      case "pace" ->
          paced.run(numbers[0], new SimulatedShuffle(numbers[1], numbers[2], numbers[3]));
      case "tables" -> tables(numbers[0], numbers[1], numbers[2]);
      case "statuses" -> statuses(numbers[0], numbers[1]);
      case "bring" -> bring(numbers[0], numbers[1]);
      case "storage" -> storage.register(numbers[0]);
      default -> throw new IllegalArgumentException(command);
    }
    asks.await();
    return bytes.get();
  }

  private void ask(RpcEndpointRef driver, Object question, Consumer<byte[]> answered)
      throws InterruptedException {
    asks.ask(driver, question, byte[].class, answered);
  }

  private void announce(int executors) throws InterruptedException {
    for (int i = 0; i < executors; i++) {
      ask(registry, probe.announce(SimulatedShuffle.executorId(i)), answer -> {});
    }
  }

  private void publish(int shuffleId, SimulatedShuffle shuffle, int atOnce)
      throws InterruptedException {
    for (int executor = 0; executor < shuffle.executors(); executor++) {
      List<MapOutputLocation> records = shuffle.records(executor);
      for (int from = 0; from < records.size(); from += atOnce) {
        int to = Math.min(records.size(), from + atOnce);
        byte[] message = probe.publish(shuffleId, records.subList(from, to));
        bytes.addAndGet(message.length);
        ask(registry, message, answer -> {});
      }
    }
  }

  /**
   * Each executor fetches the whole table. The first one's is read, the others must be the same.
   */
  private void tables(int shuffleId, int maps, int executors) throws InterruptedException {
    RegistryProbe.Progress progress = new RegistryProbe.Progress(0, true, 0);
    int records = 0;
    while (progress.more()) {
      byte[] question = probe.sync(shuffleId, progress.position());
      AtomicReference<byte[]> first = new AtomicReference<>();
      ask(registry, question, first::set);
      asks.await();
      bytes.addAndGet(first.get().length);
      for (int executor = 1; executor < executors; executor++) {
        ask(
            registry,
            question,
            answer -> {
              bytes.addAndGet(answer.length);
              if (!Arrays.equals(first.get(), answer)) {
                throw new IllegalStateException("answers differ");
              }
            });
      }
      progress = probe.progress(progress.position(), first.get());
      records += progress.records();
    }
    if (records != maps) {
      throw new IllegalStateException(records + " of " + maps + " records");
    }
  }

  private void statuses(int shuffleId, int executors) throws InterruptedException {
    GetMapOutputStatuses question = new GetMapOutputStatuses(shuffleId);
    for (int executor = 0; executor < executors; executor++) {
      ask(tracker, question, answer -> bytes.addAndGet(answer.length));
    }
  }

  private void bring(int executors, int bytesEach) throws InterruptedException {
    byte[] message = new byte[bytesEach];
    for (int executor = 0; executor < executors; executor++) {
      bytes.addAndGet(message.length);
      ask(taker, message, answer -> {});
    }
  }
}
