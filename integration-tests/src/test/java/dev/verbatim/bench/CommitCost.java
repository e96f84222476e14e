package dev.verbatim.bench;

import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.Goal;
import dev.verbatim.it.spark.fixture.Device;
import dev.verbatim.it.spark.fixture.SoftRoce;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.shuffle.RdmaShuffleManager;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import scala.Tuple2;

/**
 * Measures what registration adds to map tasks: applications with Spark's shuffle manager and with
 * this one take turns, each writes the same map outputs again and again.
 */
@Command(name = "commit-cost", mixinStandardHelpOptions = true)
public final class CommitCost implements Callable<Integer> {
  private static final int MAPS = 8;
  private static final int REDUCERS = 16;
  private static final int JOBS = 6;
  private static final int RECORD = 64 << 10;

  @Parameters(index = "0", description = "standin or softroce.")
  private String deviceName;

  @Parameters(index = "1", defaultValue = "64", description = "MiB per map output.")
  private int mebibytes;

  @Mixin private FigureOptions figures;

  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new CommitCost())).execute(arguments));
  }

  @Override
  public Integer call() throws IOException {
    Device device = deviceName.equals("softroce") ? new SoftRoce() : new StandIn();
    int records = (int) (((long) mebibytes << 20) / RECORD);
    List<Double> with = new ArrayList<>();
    List<Double> without = new ArrayList<>();
    for (int round = 0; round < figures.rounds(); round++) {
      boolean stockFirst = round % 2 == 0;
      double first = taskMillis(device, stockFirst, records);
      double second = taskMillis(device, !stockFirst, records);
      with.add(stockFirst ? second : first);
      without.add(stockFirst ? first : second);
      System.out.printf(
          "round %d: with registration / without %.3f%n",
          round, with.getLast() / without.getLast());
    }
    figures.add(
        new Figure(
            "map-task",
            "time of a map task that writes " + mebibytes + " MiB, median of its application",
            "ms",
            new Figure.Side("registration on", with),
            new Figure.Side("Spark's sort", without),
            List.of(Goal.parse("ratio <= 1.02")),
            deviceName.equals("standin") ? "The device is a stand-in" : null,
            null));
    return 0;
  }

  /** Median time of a map task after the first job, milliseconds. */
  private static double taskMillis(Device device, boolean stock, int records) {
    TaskTimes times = new TaskTimes((long) records * RECORD);
    TestCluster.Builder settings =
        device
            .prepare(TestCluster.builder(stock ? "commit-stock" : "commit-verbatim"))
            .executors(1)
            // C2 too, as users run them.
            .set("spark.executor.extraJavaOptions", "-XX:+UseSerialGC")
            .set("spark.shuffle.compress", "false");
    if (stock) {
      settings.set("spark.shuffle.manager", "sort");
    }
    try (TestCluster cluster = settings.start()) {
      cluster.session().sparkContext().addSparkListener(times);
      write(cluster, records);
      CounterSnapshot before = counters(cluster, stock, MAPS);
      times.clear();
      for (int job = 0; job < JOBS; job++) {
        write(cluster, records);
      }
      CounterSnapshot after = counters(cluster, stock, MAPS * (JOBS + 1));
      double median = times.median();
      System.out.printf("%s: map task %.1f ms", stock ? "sort" : "verbatim", median);
      if (!stock) {
        int outputs = MAPS * JOBS;
        System.out.printf(
            ", of them hand-over %.0f us; registered in %.2f ms, by another thread",
            (after.handOverNanos() - before.handOverNanos()) / 1e3 / outputs,
            (after.registerNanos() - before.registerNanos()) / 1e6 / outputs);
      }
      System.out.println();
      return median;
    }
  }

  private static void write(TestCluster cluster, int records) {
    cluster
        .context()
        .parallelize(IntStream.range(0, MAPS).boxed().toList(), MAPS)
        .flatMapToPair(map -> records(map, records))
        .partitionBy(new HashPartitioner(REDUCERS))
        .mapPartitions(none -> Collections.<Integer>emptyIterator())
        .count();
  }

  private static Iterator<Tuple2<Integer, byte[]>> records(int map, int count) {
    byte[] value = new byte[RECORD];
    new Random(map).nextBytes(value);
    // Not the same array again: Java's serializer would write a reference to it.
    return IntStream.range(0, count).mapToObj(key -> new Tuple2<>(key, value.clone())).iterator();
  }

  /** The executor's counters once they tell of so many map outputs. */
  private static CounterSnapshot counters(TestCluster cluster, boolean stock, int outputs) {
    if (stock) {
      return CounterSnapshot.ZERO;
    }
    for (int i = 0; i < 600; i++) {
      CounterSnapshot total = RdmaShuffleManager.report().total();
      if (total.outputsRegistered() == outputs) {
        return total;
      }
      try {
        Thread.sleep(100);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    throw new AssertionError(
        outputs + " map outputs should be registered: " + RdmaShuffleManager.report());
  }

  private static final class TaskTimes extends SparkListener {
    private final long outputBytes;
    private final ConcurrentLinkedQueue<Long> millis = new ConcurrentLinkedQueue<>();

    TaskTimes(long outputBytes) {
      this.outputBytes = outputBytes;
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      if (end.taskMetrics().shuffleWriteMetrics().bytesWritten() >= outputBytes) {
        millis.add(end.taskMetrics().executorRunTime());
      }
    }

    void clear() {
      millis.clear();
    }

    double median() {
      long[] sorted = millis.stream().mapToLong(Long::longValue).sorted().toArray();
      if (sorted.length == 0) {
        throw new AssertionError("no map task has ended");
      }
      return sorted[sorted.length / 2];
    }
  }
}
