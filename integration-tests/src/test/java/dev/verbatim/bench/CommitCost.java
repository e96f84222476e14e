package dev.verbatim.bench;

import dev.verbatim.examples.CpuTimes;
import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.Goal;
import dev.verbatim.examples.report.Spread;
import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Device;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.SoftRoce;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.shuffle.RdmaShuffleManager;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import org.apache.spark.ShuffleDependency;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import scala.Tuple2;

/**
 * Measures what registration adds to map tasks: in one executor, writers of Spark's shuffle manager
 * and of this one take turns at the same map outputs.
 */
@Command(name = "commit-cost", mixinStandardHelpOptions = true)
public final class CommitCost implements Callable<Integer> {
  private static final int WARM_UPS = 3;
  private static final int OUTPUTS = 12;
  private static final int REDUCERS = 16;
  private static final int RECORD = 64 << 10;

  @Parameters(index = "0", description = "standin or softroce.")
  private String deviceName;

  @Parameters(index = "1", defaultValue = "64", description = "MiB per map output.")
  private int mebibytes;

  @Mixin private FigureOptions figures;

  /** Map outputs that should be registered by now. */
  private long registered;

  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new CommitCost())).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    Device device = deviceName.equals("softroce") ? new SoftRoce() : new StandIn();
    List<Cost> with = new ArrayList<>();
    List<Cost> without = new ArrayList<>();
    TestCluster.Builder settings =
        device
            .prepare(TestCluster.builder("commit-cost"))
            .executors(1)
            // C2 too, as users run them.
            .set("spark.executor.extraJavaOptions", "-XX:+UseSerialGC")
            .set("spark.shuffle.rdma.maxRegisteredBytes", "16g")
            .set("spark.shuffle.rdma.metrics.reportInterval", "100ms")
            .set("spark.shuffle.compress", "false");
    try (TestCluster cluster = settings.start()) {
      for (int round = -WARM_UPS; round < figures.rounds(); round++) {
        Round both = new Round(cluster, Math.floorMod(round, 2) == 0);
        if (round >= 0) {
          with.add(both.with());
          without.add(both.without());
        }
      }
    }
    List<Goal> goals = List.of(Goal.parse("ratio <= 1.02"));
    report("map-commit", "time to write and commit", "ms", goals, with, without, Cost::millis);
    report(
        "map-commit-alone",
        "time from the last record to the end of the commit of",
        "ms",
        goals,
        with,
        without,
        Cost::commitMillis);
    report(
        "map-commit-stop",
        "time of stop(true), where Spark's writer has committed already and ours hands over",
        "us",
        List.of(),
        with,
        without,
        Cost::stopMicros);
    report(
        "map-commit-cpu",
        "CPU of the executor for",
        "ms",
        List.of(),
        with,
        without,
        Cost::cpuMillis);
    return 0;
  }

  private void report(
      String name,
      String what,
      String unit,
      List<Goal> goals,
      List<Cost> with,
      List<Cost> without,
      ToDoubleFunction<Cost> of)
      throws IOException {
    figures.add(
        new Figure(
            name,
            "%s %d MiB, a map output".formatted(what, mebibytes),
            unit,
            new Figure.Side("registration on", with.stream().mapToDouble(of).boxed().toList()),
            new Figure.Side("Spark's sort", without.stream().mapToDouble(of).boxed().toList()),
            goals,
            deviceName.equals("standin") ? "The device is a stand-in" : null,
            null));
  }

  /**
   * Of one map output.
   *
   * @param millis in the task, median
   * @param commitMillis of them, after the last record, median
   * @param stopMicros of them, in {@code stop(true)}, median
   * @param cpuMillis of the executor's process, registration by other threads included, mean
   */
  private record Cost(double millis, double commitMillis, double stopMicros, double cpuMillis) {
    static Cost of(List<MapOutputs.Times> times, double cpuMillis) {
      return new Cost(
          median(times, MapOutputs.Times::wholeMillis),
          median(times, MapOutputs.Times::commitMillis),
          median(times, MapOutputs.Times::stopMicros),
          cpuMillis);
    }

    /** Without the first one after the other side's, which finds its caches cold. */
    private static double median(
        List<MapOutputs.Times> times, ToDoubleFunction<MapOutputs.Times> of) {
      return Spread.of(times.stream().skip(1).mapToDouble(of).boxed().toList()).median();
    }
  }

  /** One shuffle, whose map outputs each side writes. */
  private final class Round {
    private final TestCluster cluster;
    private final MapOutputs outputs;
    private final Cost[] costs = new Cost[2];

    Round(TestCluster cluster, boolean stockFirst) throws Exception {
      this.cluster = cluster;
      int records = (int) (((long) mebibytes << 20) / RECORD);
      // One that the driver knows, with one small map output.
      ShuffleDependency<?, ?, ?> shuffle =
          MapStage.run(
              cluster
                  .context()
                  .parallelize(List.of(1), 1)
                  .mapToPair(key -> new Tuple2<>(key, new byte[1])),
              REDUCERS,
              null,
              Duration.ofMinutes(1));
      awaitRegistered(1);
      outputs = new MapOutputs(shuffle.shuffleHandle(), OUTPUTS, records, RECORD);
      costs[stockFirst ? 0 : 1] = cost(stockFirst);
      costs[stockFirst ? 1 : 0] = cost(!stockFirst);
      cluster.session().sparkContext().cleaner().get().doCleanupShuffle(shuffle.shuffleId(), true);
    }

    Cost with() {
      return costs[1];
    }

    Cost without() {
      return costs[0];
    }

    private Cost cost(boolean stock) throws IOException {
      MapOutputs task = outputs;
      long pid = Executors.running().values().iterator().next().pid();
      CounterSnapshot before = RdmaShuffleManager.report().total();
      CpuTimes cpu = CpuTimes.of(pid);
      List<MapOutputs.Times> times =
          cluster
              .context()
              .parallelize(List.of(1), 1)
              .map(any -> task.write(stock, stock ? 1L << 41 : 1L << 40))
              .collect()
              .getFirst();
      if (!stock) {
        awaitRegistered(OUTPUTS);
      }
      double cpuMillis = CpuTimes.of(pid).since(cpu).totalMillis() / (double) OUTPUTS;
      CounterSnapshot after = RdmaShuffleManager.report().total();
      Cost cost = Cost.of(times, cpuMillis);
      System.out.printf(
          "%s: %.1f ms a map output, %.2f ms after its last record, %.0f us in stop, CPU %.1f ms;"
              + " hand-over %.0f us, registered in %.2f ms by another thread%n",
          stock ? "sort" : "verbatim",
          cost.millis(),
          cost.commitMillis(),
          cost.stopMicros(),
          cpuMillis,
          (after.handOverNanos() - before.handOverNanos()) / 1e3 / OUTPUTS,
          (after.registerNanos() - before.registerNanos()) / 1e6 / OUTPUTS);
      return cost;
    }

    private void awaitRegistered(int more) {
      registered += more;
      Deadline.await(
          "registration of " + registered + " map outputs",
          Duration.ofSeconds(60),
          () -> RdmaShuffleManager.report().total().outputsRegistered() == registered,
          RdmaShuffleManager::report);
    }
  }
}
