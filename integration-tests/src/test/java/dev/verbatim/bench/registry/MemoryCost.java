package dev.verbatim.bench.registry;

import dev.verbatim.bench.FigureOptions;
import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.Goal;
import dev.verbatim.shuffle.registry.DriverRegistry;
import dev.verbatim.shuffle.registry.RegistryEndpoint;
import dev.verbatim.shuffle.registry.RegistryProbe;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcEndpointRef;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures the heap that a driver needs for the records of a shuffle and for Spark's own map
 * statuses of it, the heap that an executor needs for its registered map outputs, and what of
 * either is left when the shuffle is removed. Needs a device, if only the stand-in.
 */
@Command(name = "memory", mixinStandardHelpOptions = true)
public final class MemoryCost implements Callable<Integer> {
  private static final int EXECUTORS = 100;
  private static final int OUTPUTS = 10_000;
  private static final double MB = 1e6;

  /** What a heap differs by when nothing has changed. */
  private static final Goal NO_GROWTH = Goal.parse("ours <= 0.5");

  @Option(names = "--maps", defaultValue = "200000", description = "Multiplied up to a million.")
  private int maps;

  @Option(names = "--reducers", defaultValue = "1000")
  private int reducers;

  @Mixin private FigureOptions figures;

  private final RegistryProbe probe = new RegistryProbe();
  private int shuffles;

  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new MemoryCost())).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    SparkContext context =
        new SparkContext(
            new SparkConf(false)
                .setMaster("local[1]")
                .setAppName("memory")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1"));
    ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
    try {
      driver(new DriverRegistry(Duration.ZERO, timer, shuffleId -> true));
      DriverRegistry forgetful = new DriverRegistry(Duration.ZERO, timer, id -> true);
      forgetful.removeExecutor("1");
      RpcEndpointRef registry = RegistryEndpoint.open(SparkEnv.get().rpcEnv(), forgetful);
      executor(registry, false);
      executor(registry, true);
    } finally {
      context.stop();
      timer.shutdownNow();
    }
    return 0;
  }

  private void driver(DriverRegistry registry) throws Exception {
    for (int i = 0; i < EXECUTORS; i++) {
      probe.take(registry, probe.announce(SimulatedShuffle.executorId(i)));
    }
    Costs ours = new Costs();
    Costs theirs = new Costs();
    SparkStatuses spark = new SparkStatuses();
    ours(registry, new Costs()); // loads classes
    theirs(spark, new Costs());
    for (int round = 0; round < figures.rounds(); round++) {
      ours(registry, ours);
      theirs(spark, theirs);
    }
    String note =
        "One process holds all; multiplied up from %,d maps of %,d reducers"
            .formatted(maps, reducers);
    add(
        "driver-heap",
        "driver's heap per million map outputs",
        ours,
        theirs,
        "held",
        note,
        "ratio <= 1");
    add("driver-heap-left", "of it after the shuffle was removed", ours, theirs, "left", null);
  }

  private void ours(DriverRegistry registry, Costs costs) throws Exception {
    int shuffleId = shuffles++;
    SimulatedShuffle shuffle = new SimulatedShuffle(maps, EXECUTORS, reducers);
    long before = UsedHeap.now();
    for (int executor = 0; executor < EXECUTORS; executor++) {
      probe.take(registry, probe.publish(shuffleId, shuffle.records(executor)));
    }
    long held = UsedHeap.now() - before;
    registry.removeShuffle(shuffleId);
    costs.add("held", held / MB * 1e6 / maps);
    costs.add("left", (UsedHeap.now() - before) / MB);
  }

  private void theirs(SparkStatuses spark, Costs costs) throws Exception {
    int shuffleId = shuffles++;
    long before = UsedHeap.now();
    spark.register(
        shuffleId,
        new SimulatedShuffle(maps, EXECUTORS, reducers),
        new DriverCpu(),
        new DriverCpu());
    long held = UsedHeap.now() - before;
    spark.unregister(shuffleId);
    costs.add("held", held / MB * 1e6 / maps);
    costs.add("left", (UsedHeap.now() - before) / MB);
  }

  private void executor(RpcEndpointRef registry, boolean mapped) throws Exception {
    List<Double> heap = new ArrayList<>();
    List<Double> left = new ArrayList<>();
    List<Double> slack = new ArrayList<>();
    List<Double> registeredLeft = new ArrayList<>();
    try (RegisteredOutputs outputs = new RegisteredOutputs(registry, OUTPUTS, mapped)) {
      outputs.register();
      outputs.remove();
      for (int round = 0; round < figures.rounds(); round++) {
        long before = UsedHeap.now();
        long registeredBefore = outputs.registeredBytes();
        outputs.register();
        heap.add((UsedHeap.now() - before) / MB);
        slack.add((outputs.registeredBytes() - registeredBefore - outputs.bytes()) / MB);
        outputs.remove();
        left.add((UsedHeap.now() - before) / MB);
        registeredLeft.add((outputs.registeredBytes() - registeredBefore) / MB);
      }
    }
    String how = mapped ? "mapped" : "copied";
    String what = " of %,d registered map outputs of 16 KiB, %s".formatted(OUTPUTS, how);
    add(how + "-heap", "executor's heap" + what, heap);
    add(how + "-slack", "registered memory beyond the bytes" + what, slack);
    add(how + "-heap-left", "heap after the shuffle was removed", left, NO_GROWTH);
    add(
        how + "-left",
        "registered memory after it was removed",
        registeredLeft,
        Goal.parse("ours <= 0"));
  }

  private void add(
      String name, String what, Costs ours, Costs theirs, String cost, String note, String... goals)
      throws IOException {
    List<Goal> all =
        cost.equals("left") ? List.of(NO_GROWTH) : Stream.of(goals).map(Goal::parse).toList();
    boolean compared = !cost.equals("left");
    figures.add(
        new Figure(
            name,
            what,
            "MB",
            new Figure.Side("verbatim", ours.get(cost)),
            compared ? new Figure.Side("map statuses", theirs.get(cost)) : null,
            all,
            note,
            null));
  }

  private void add(String name, String what, List<Double> ours, Goal... goals) throws IOException {
    figures.add(
        new Figure(
            name,
            what,
            "MB",
            new Figure.Side("verbatim", ours),
            null,
            List.of(goals),
            "The device is a stand-in",
            null));
  }
}
