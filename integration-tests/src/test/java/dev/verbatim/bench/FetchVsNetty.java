package dev.verbatim.bench;

import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.Goal;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Compares fetching many blocks from one executor through this shuffle manager's reader with
 * fetching them through that of Spark's own; see {@link FetchTurns}.
 */
@Command(name = "fetch-vs-netty", mixinStandardHelpOptions = true)
public final class FetchVsNetty implements Callable<Integer> {
  private static final String QPS_PER_PEER = "spark.shuffle.rdma.qpsPerPeer";

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
      names = "--qps",
      split = ",",
      defaultValue = "1,4",
      description =
          "Values of "
              + QPS_PER_PEER
              + ", an application for each; figures of others than"
              + " 1 are named after them (default: 1,4).")
  private List<Integer> qpsPerPeer;

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
    if (settings.containsKey(QPS_PER_PEER)) {
      throw new IllegalArgumentException("--conf " + QPS_PER_PEER + ": say --qps");
    }
    for (int qps : qpsPerPeer) {
      Map<String, String> all = new LinkedHashMap<>(settings);
      all.put(QPS_PER_PEER, String.valueOf(qps));
      RandomBlocks blocks = new RandomBlocks(maps, reducers, smallest, largest);
      try (FetchTurns turns =
          new FetchTurns("fetch-vs-netty-qps-" + qps, deviceName, executorFlags, all)) {
        report(qps, blocks, turns.run(blocks, perReader, warmUps, figures.rounds()));
      }
    }
    return 0;
  }

  private void report(int qps, RandomBlocks blocks, FetchTurns.Sides sides) throws IOException {
    String fetch =
        "%,d blocks of %,d to %,d bytes from one executor, %.0f MB, qpsPerPeer=%d"
            .formatted(
                blocks.count(),
                blocks.smallest(),
                blocks.largest(),
                sides.ours().getFirst().read().bytes() / 1e6,
                qps);
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
              "fetch-" + measure.name() + (qps == 1 ? "" : "-qps-" + qps),
              measure.what() + " " + fetch,
              measure.unit(),
              sides.ours(measure.of()),
              sides.netty(measure.of()),
              measure.goals(),
              FetchTurns.note(deviceName),
              null));
    }
  }
}
