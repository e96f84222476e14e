package dev.verbatim.bench;

import dev.verbatim.examples.report.Figure;
import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Device;
import dev.verbatim.it.spark.fixture.ExecutorPlace;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.RawSerializer;
import dev.verbatim.it.spark.fixture.SoftRoce;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.shuffle.RdmaShuffleManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;

/**
 * One application of two executors: one writes all blocks of a shuffle, and a task of the other
 * fetches them again and again, through this shuffle manager's reader and through that of Spark's
 * own by turns.
 */
final class FetchTurns implements AutoCloseable {
  private final Device device;
  private final TestCluster cluster;
  private final SparkContext context;
  private final ExecutorPlace server;
  private final ExecutorPlace reader;

  /** Map outputs that should be registered by now. */
  private long registered;

  /**
   * Starts the application.
   *
   * @param name of the application
   * @param deviceName standin or softroce
   * @param executorFlags options of the executors' JVMs
   * @param settings further ones of Spark
   */
  FetchTurns(String name, String deviceName, String executorFlags, Map<String, String> settings) {
    device = device(deviceName);
    TestCluster.Builder application =
        ExecutorPlace.settings(device.prepare(TestCluster.builder(name)))
            .set("spark.executor.extraJavaOptions", executorFlags)
            .set("spark.shuffle.compress", "false")
            // As Spark has them; tests change them.
            .set("spark.network.maxRemoteBlockSizeFetchToMem", "200m")
            .set("spark.shuffle.minNumPartitionsToHighlyCompress", "2000");
    settings.forEach(application::set);
    cluster = application.start();
    context = cluster.session().sparkContext();
    List<ExecutorPlace> places = ExecutorPlace.all(context);
    server = places.getFirst();
    reader = places.getLast();
  }

  private static Device device(String name) {
    return switch (name) {
      case "standin" -> new StandIn();
      case "softroce" -> new SoftRoce();
      default -> throw new IllegalArgumentException("no device " + name + ": standin or softroce");
    };
  }

  /** What figures of this device should say. */
  static String note(String deviceName) {
    return deviceName.equals("standin")
        ? "The device is a stand-in"
        : "Soft-RoCE: in software, by the kernel, on an emulated processor";
  }

  @Override
  public void close() {
    cluster.close();
  }

  /** What fetches took, round by round. */
  record Sides(List<BlockFetch.Taken> ours, List<BlockFetch.Taken> netty) {
    Figure.Side ours(ToDoubleFunction<BlockFetch.Taken> of) {
      return new Figure.Side("verbatim", values(ours, of));
    }

    Figure.Side netty(ToDoubleFunction<BlockFetch.Taken> of) {
      return new Figure.Side("Spark's Netty", values(netty, of));
    }

    private static List<Double> values(
        List<BlockFetch.Taken> rounds, ToDoubleFunction<BlockFetch.Taken> of) {
      return rounds.stream().mapToDouble(of).boxed().toList();
    }
  }

  /**
   * Has the blocks written, fetches them, and has them removed.
   *
   * @param perReader partitions that a reader fetches; 0 for all
   * @param warmUps rounds before those that count; the first of them checks the content
   */
  Sides run(RandomBlocks blocks, int perReader, int warmUps, int rounds) throws Exception {
    Sides sides = new Sides(new ArrayList<>(), new ArrayList<>());
    Fetches fetches = new Fetches(blocks, perReader == 0 ? blocks.reducers() : perReader);
    for (int round = -warmUps; round < rounds; round++) {
      boolean stockFirst = Math.floorMod(round, 2) == 1;
      boolean checksums = round < 0 && round == -warmUps;
      BlockFetch.Taken first = fetches.fetch(stockFirst, checksums);
      BlockFetch.Taken second = fetches.fetch(!stockFirst, checksums);
      if (round >= 0) {
        sides.ours().add(stockFirst ? second : first);
        sides.netty().add(stockFirst ? first : second);
      }
    }
    context.cleaner().get().doCleanupShuffle(fetches.shuffleId, true);
    return sides;
  }

  /** A shuffle that one of the executors has written. */
  private final class Fetches {
    private final RandomBlocks.Sum wanted;
    private final BlockFetch fetch;
    private final int shuffleId;

    Fetches(RandomBlocks blocks, int perReader) throws Exception {
      wanted = blocks.sum();
      ShuffleDependency<?, ?, ?> shuffle =
          MapStage.run(
              server.numbers(context, blocks.maps()).flatMapToPair(blocks::of),
              blocks.reducers(),
              new RawSerializer(),
              Duration.ofMinutes(2));
      shuffleId = shuffle.shuffleId();
      long pid = Executors.running().get(server.id()).pid();
      fetch = new BlockFetch(shuffle.shuffleHandle(), blocks.reducers(), perReader, pid);
      registered += blocks.maps();
      Deadline.await(
          "registration of all map outputs",
          Duration.ofSeconds(60),
          () -> RdmaShuffleManager.report().total().outputsRegistered() == registered,
          RdmaShuffleManager::report);
    }

    /** 0 where only the kernel knows. */
    private long reads() {
      return device instanceof StandIn standIn ? standIn.reads() : 0;
    }

    /** Fetches all blocks, and makes sure that they came, and which way. */
    BlockFetch.Taken fetch(boolean stock, boolean checksums) {
      BlockFetch task = fetch;
      long before = RdmaShuffleManager.report().bytesByRdma();
      long reads = reads();
      BlockFetch.Taken taken =
          reader.numbers(context, 1).map(any -> task.run(stock, checksums)).collect().getFirst();
      reads = reads() - reads;
      System.out.printf(
          "%s: %.0f ms; %d heap bytes per block; %d READs;"
              + " CPU, user + system, ms: serving %d + %d, reading %d + %d, machine %d + %d%n",
          stock ? "netty" : "verbatim",
          taken.wallMillis(),
          taken.heapBytes() / wanted.blocks(),
          reads,
          taken.serving().userMillis(),
          taken.serving().systemMillis(),
          taken.reading().userMillis(),
          taken.reading().systemMillis(),
          taken.machine().userMillis(),
          taken.machine().systemMillis());
      RandomBlocks.Sum read =
          checksums
              ? taken.read()
              : new RandomBlocks.Sum(
                  taken.read().blocks(), taken.read().bytes(), wanted.checksums());
      if (!read.equals(wanted) || taken.remoteBlocks() != wanted.blocks()) {
        throw new AssertionError(taken + " instead of " + wanted);
      }
      assertCameByRdma(stock ? 0 : wanted.bytes(), before);
      return taken;
    }

    /** The executor's report follows its task, perhaps a moment later. */
    private void assertCameByRdma(long expected, long before) {
      Deadline.await(
          "accounting for all bytes",
          Duration.ofSeconds(30),
          () -> RdmaShuffleManager.report().bytesByRdma() >= before + expected,
          RdmaShuffleManager::report);
      long byRdma = RdmaShuffleManager.report().bytesByRdma() - before;
      if (byRdma != expected) {
        throw new AssertionError(byRdma + " bytes came by RDMA: " + RdmaShuffleManager.report());
      }
    }
  }
}
