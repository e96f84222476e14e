package dev.verbatim.bench.registry;

import dev.verbatim.bench.FigureOptions;
import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.IntFunction;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Measures how the registry's costs grow when one thing of a shuffle grows tenfold, twice. */
@Command(name = "registry-growth", mixinStandardHelpOptions = true)
public final class RegistryGrowth implements Callable<Integer> {
  private static final int MAPS = 10_000;
  private static final int EXECUTORS = 100;
  private static final int REDUCERS = 100;

  /** Rounds until the compiler is about done. */
  private static final int WARM_UP = 40;

  @Mixin private FigureOptions figures;

  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new RegistryGrowth())).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    try (DriverUnderTest driver = new DriverUnderTest(false, false)) {
      driver.compare(new SimulatedShuffle(MAPS, EXECUTORS, REDUCERS), WARM_UP, 0, null, null);
      grow(
          driver, "maps", n -> new SimulatedShuffle(n, EXECUTORS, REDUCERS), 1000, 10_000, 100_000);
      grow(driver, "reducers", n -> new SimulatedShuffle(MAPS, EXECUTORS, n), 10, 100, 1000);
      grow(driver, "executors", n -> new SimulatedShuffle(MAPS, n, REDUCERS), 10, 100, 1000);
      grow(
          driver,
          "blocks",
          n -> new SimulatedShuffle((int) Math.sqrt(n), 100, (int) Math.sqrt(n)),
          40_000,
          400_000,
          4_000_000);
    }
    return 0;
  }

  private void grow(
      DriverUnderTest driver, String axis, IntFunction<SimulatedShuffle> shuffle, int... sizes)
      throws Exception {
    for (int size : sizes) {
      Costs ours = new Costs();
      Costs theirs = new Costs();
      driver.compare(shuffle.apply(size), 1, figures.rounds(), ours, theirs);
      add(axis, size, "bytes", "Bytes that the driver sends", "bytes", ours, theirs, "sent");
      add(axis, size, "cpu", "Driver CPU", "ms", ours, theirs, "cpu");
    }
  }

  private void add(
      String axis,
      int size,
      String name,
      String what,
      String unit,
      Costs ours,
      Costs theirs,
      String cost)
      throws Exception {
    figures.add(
        new Figure(
            name + "-by-" + axis,
            what
                + " for a shuffle of %,d maps, %d executors and %d reducers while one of them grows"
                    .formatted(MAPS, EXECUTORS, REDUCERS),
            unit,
            new Figure.Side("verbatim", ours.get(cost)),
            new Figure.Side("map statuses", theirs.get(cost)),
            List.of(),
            "Executors are simulated",
            new Figure.Point(what + " by " + axis, axis, size)));
  }
}
