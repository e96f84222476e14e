package dev.verbatim.bench;

import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.Goal;
import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Device;
import dev.verbatim.it.spark.fixture.ExecutorPlace;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.RawSerializer;
import dev.verbatim.it.spark.fixture.SoftRoce;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.shuffle.RdmaShuffleManager;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Compares fetching many blocks from one executor through this shuffle manager's reader with
 * fetching them through that of Spark's own. There is one application; one of its two executors has
 * written all blocks, and a task of the other fetches them again and again, each side by turns.
 */
@Command(name = "fetch-vs-netty", mixinStandardHelpOptions = true)
public final class FetchVsNetty implements Callable<Integer> {

  @Parameters(index = "0", description = "standin or softroce.")
  private String deviceName;

  @Option(names = "--maps", defaultValue = "100", description = "Map tasks (default: 100).")
  private int maps;

  @Option(names = "--reducers", defaultValue = "100", description = "Partitions (default: 100).")
  private int reducers;

  @Option(
      names = "--per-reader",
      defaultValue = "0",
      description =
          "Partitions that a reader fetches; several readers take turns, as reduce tasks do"
              + " (default: 0, one reader for all).")
  private int perReader;

  @Option(
      names = "--smallest",
      defaultValue = "1024",
      description = "Bytes of a block at least (default: 1024).")
  private int smallest;

  @Option(
      names = "--largest",
      defaultValue = "65536",
      description = "Bytes of a block at most (default: 65536).")
  private int largest;

  @Option(
      names = "--conf",
      description = "A setting of Spark, KEY=VALUE; may be given several times.")
  private Map<String, String> settings = Map.of();

  @Option(
      names = "--warm-ups",
      defaultValue = "8",
      description =
          "Rounds before those that count; in the first of them the content is checked, which takes"
              + " longer than to fetch it (default: 8).")
  private int warmUps;

  @Option(
      names = "--executor-flags",
      defaultValue = "-XX:+UseSerialGC",
      description = "Options of the executors' JVMs (default: -XX:+UseSerialGC).")
  private String executorFlags;

  @Mixin private FigureOptions figures;

  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new FetchVsNetty())).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    Device device = deviceName.equals("softroce") ? new SoftRoce() : new StandIn();
    RandomBlocks blocks = new RandomBlocks(maps, reducers, smallest, largest);
    List<BlockFetch.Taken> ours = new ArrayList<>();
    List<BlockFetch.Taken> netty = new ArrayList<>();
    TestCluster.Builder application =
        ExecutorPlace.settings(device.prepare(TestCluster.builder("fetch-vs-netty")))
            .set("spark.executor.extraJavaOptions", executorFlags)
            .set("spark.shuffle.compress", "false")
            // As Spark has them; tests change them.
            .set("spark.network.maxRemoteBlockSizeFetchToMem", "200m")
            .set("spark.shuffle.minNumPartitionsToHighlyCompress", "2000");
    settings.forEach(application::set);
    try (TestCluster cluster = application.start()) {
      Fetches fetches = new Fetches(cluster, device, blocks);
      for (int round = -warmUps; round < figures.rounds(); round++) {
        boolean stockFirst = Math.floorMod(round, 2) == 1;
        boolean checksums = round < 0 && round == -warmUps;
        BlockFetch.Taken first = fetches.fetch(stockFirst, checksums);
        BlockFetch.Taken second = fetches.fetch(!stockFirst, checksums);
        if (round >= 0) {
          ours.add(stockFirst ? second : first);
          netty.add(stockFirst ? first : second);
        }
      }
    }
    report(blocks, ours, netty);
    return 0;
  }

  /** The two executors and the shuffle that one of them has written. */
  private final class Fetches {
    private final SparkContext context;
    private final ExecutorPlace reader;
    private final RandomBlocks.Sum wanted;
    private final BlockFetch fetch;
    private final Device device;

    Fetches(TestCluster cluster, Device device, RandomBlocks blocks) throws Exception {
      this.device = device;
      context = cluster.session().sparkContext();
      List<ExecutorPlace> places = ExecutorPlace.all(context);
      ExecutorPlace server = places.getFirst();
      reader = places.getLast();
      wanted = blocks.sum();
      ShuffleDependency<?, ?, ?> shuffle =
          MapStage.run(
              server.numbers(context, blocks.maps()).flatMapToPair(blocks::of),
              blocks.reducers(),
              new RawSerializer(),
              Duration.ofMinutes(2));
      long pid = Executors.running().get(server.id()).pid();
      int all = blocks.reducers();
      fetch = new BlockFetch(shuffle.shuffleHandle(), all, perReader == 0 ? all : perReader, pid);
      Deadline.await(
          "registration of all map outputs",
          Duration.ofSeconds(60),
          () -> RdmaShuffleManager.report().total().outputsRegistered() == blocks.maps(),
          RdmaShuffleManager::report);
    }

    /** 0 where only the kernel knows. */
    private long reads() {
      return device instanceof StandIn standIn ? standIn.reads() : 0;
    }

    /** Fetches all blocks, and makes sure that they came, and which way. */
    BlockFetch.Taken fetch(boolean stock, boolean checksums) {
      BlockFetch task = fetch;
      long byRdma = RdmaShuffleManager.report().bytesByRdma();
      long reads = reads();
      BlockFetch.Taken taken =
          reader.numbers(context, 1).map(any -> task.run(stock, checksums)).collect().getFirst();
      byRdma = RdmaShuffleManager.report().bytesByRdma() - byRdma;
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
      if (byRdma != (stock ? 0 : wanted.bytes())) {
        throw new AssertionError(byRdma + " bytes came by RDMA: " + RdmaShuffleManager.report());
      }
      return taken;
    }
  }

  private void report(
      RandomBlocks blocks, List<BlockFetch.Taken> ours, List<BlockFetch.Taken> netty)
      throws IOException {
    String fetch =
        "%,d blocks of %,d to %,d bytes from one executor, %.0f MB"
            .formatted(
                blocks.count(),
                blocks.smallest(),
                blocks.largest(),
                ours.getFirst().read().bytes() / 1e6);
    record Measure(
        String name,
        String what,
        String unit,
        List<Goal> goals,
        ToDoubleFunction<BlockFetch.Taken> of) {}
    List<Measure> measures =
        List.of(
            new Measure(
                "time",
                "time to fetch",
                "ms",
                List.of(Goal.parse("ratio <= 1")),
                BlockFetch.Taken::wallMillis),
            new Measure(
                "serving-user",
                "user CPU of the serving process for",
                "ms",
                List.of(Goal.parse("ratio <= 0.05")),
                taken -> taken.serving().userMillis()),
            new Measure(
                "serving-system",
                "system CPU of the serving process for",
                "ms",
                List.of(),
                taken -> taken.serving().systemMillis()),
            new Measure(
                "reading-user",
                "user CPU of the reading process for",
                "ms",
                List.of(),
                taken -> taken.reading().userMillis()),
            new Measure(
                "reading-system",
                "system CPU of the reading process for",
                "ms",
                List.of(),
                taken -> taken.reading().systemMillis()),
            new Measure(
                "machine-cpu",
                "CPU of the whole machine for",
                "ms",
                List.of(),
                taken -> taken.machine().totalMillis()),
            new Measure(
                "reading-heap",
                "heap allocated by the reading process for",
                "kB",
                List.of(),
                taken -> taken.heapBytes() / 1e3));
    for (Measure measure : measures) {
      figures.add(
          new Figure(
              "fetch-" + measure.name(),
              measure.what() + " " + fetch,
              measure.unit(),
              new Figure.Side("verbatim", values(ours, measure.of())),
              new Figure.Side("Spark's Netty", values(netty, measure.of())),
              measure.goals(),
              deviceName.equals("standin")
                  ? "The device is a stand-in"
                  : "Soft-RoCE: in software, by the kernel, on an emulated processor",
              null));
    }
  }

  private static List<Double> values(
      List<BlockFetch.Taken> rounds, ToDoubleFunction<BlockFetch.Taken> of) {
    return rounds.stream().mapToDouble(of).boxed().toList();
  }
}
