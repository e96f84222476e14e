package dev.verbatim.bench.registry;

import dev.verbatim.bench.FigureOptions;
import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.Goal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures what a shuffle's records cost the driver, in bytes and CPU, and what Spark's own map
 * statuses of the same shuffle cost it.
 */
@Command(name = "registry", mixinStandardHelpOptions = true)
public final class RegistryCost implements Callable<Integer> {
  private static final String NOTE =
      "Executors are simulated by one process that speaks Spark's RPC; driver, codec and RPC are"
          + " real, and so is the driver's block manager. When executors ask for a broadcast is"
          + " assumed, in the fewest steps without --at-once; the driver sends it once";

  /** Of so many records in a message. */
  private static final String NOTE_ON_MESSAGES =
      NOTE
          + ". A record has a message of its own only when no other map task of its shuffle runs in"
          + " its executor: publish-as-tasks-end is how records come in a job";

  /** Rounds until the compiler is about done: by then a driver's RPC has long been compiled. */
  private static final int WARM_UP = 15;

  @Option(names = "--maps", defaultValue = "100000")
  private int maps;

  @Option(names = "--executors", defaultValue = "1000")
  private int executors;

  @Option(
      names = "--reducers",
      split = ",",
      defaultValue = "1000,2000",
      description = "With more than 2,000 Spark keeps no byte for each (default: 1000,2000).")
  private List<Integer> reducers;

  @Option(
      names = "--copies",
      description = "The driver sends the records to each executor, and broadcasts nothing.")
  private boolean copies;

  @Option(
      names = "--at-once",
      description = {
        "Executors all ask for a broadcast before one has it, where each is told of the driver",
        "alone, instead of getting it from each other in the fewest steps."
      })
  private boolean atOnce;

  @Mixin private FigureOptions figures;

  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new RegistryCost())).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    try (DriverUnderTest driver = new DriverUnderTest(copies, atOnce)) {
      for (int count : reducers) {
        compare(driver, count);
      }
      publishing(driver);
    }
    return 0;
  }

  private void compare(DriverUnderTest driver, int count) throws Exception {
    Costs ours = new Costs();
    Costs theirs = new Costs();
    driver.compare(
        new SimulatedShuffle(maps, executors, count), WARM_UP, figures.rounds(), ours, theirs);
    String size = " (%,d maps, %,d executors, %,d reducers)".formatted(maps, executors, count);
    String suffix = "-" + count;
    add("table-bytes" + suffix, "bytes an executor fetches" + size, "bytes", ours, theirs, "table");
    add("driver-bytes" + suffix, "bytes the driver sends" + size, "bytes", ours, theirs, "sent");
    add("driver-cpu" + suffix, "driver CPU" + size, "ms", ours, theirs, "cpu");
    String messages = "of it to take in and to answer, without the broadcast's block manager";
    add("driver-cpu-in-and-out" + suffix, messages, "ms", ours, theirs, "in and out");
    add("driver-cpu-in" + suffix, "of it to take in what comes", "ms", ours, theirs, "in");
    add("driver-cpu-out" + suffix, "of it to answer all executors", "ms", ours, theirs, "out");
    String spread = "of it for executors that get the broadcast's pieces from each other";
    add("driver-cpu-spread" + suffix, spread, "ms", ours, theirs, "spread");
    add("driver-cpu-remove" + suffix, "of it to remove all of it", "ms", ours, theirs, "remove");
  }

  private void publishing(DriverUnderTest driver) throws Exception {
    SimulatedShuffle shuffle = new SimulatedShuffle(20_000, 50, 1000);
    Against status =
        new Against(
            "map status",
            "reading and registering one map status, without the message that brought it",
            () -> driver.statusMicros(shuffle));
    Against empty =
        new Against(
            "empty message",
            "an empty message of Spark's RPC and its empty answer",
            () -> driver.emptyMicros(shuffle.maps()));
    for (int records : List.of(1, 10, 100)) {
      publishing(
          "publish-by-" + records,
          "driver CPU per record, " + records + " in a message",
          NOTE_ON_MESSAGES,
          () -> driver.publishMicros(shuffle, records),
          records == 1 ? empty : status);
    }
    SimulatedShuffle paced = new SimulatedShuffle(20_000, 200, 1000);
    publishing(
        "publish-as-tasks-end",
        "driver CPU per record, from executors of 4 cores with 100 map tasks of 25 to 75 ms",
        NOTE,
        () -> driver.pacedMicros(paced),
        status);
  }

  /** What a record is compared with: its label, what it is, and what it takes. */
  private record Against(String label, String what, Callable<Double> micros) {}

  private void publishing(
      String name, String what, String note, Callable<Double> micros, Against against)
      throws Exception {
    List<Double> ours = new ArrayList<>();
    List<Double> theirs = new ArrayList<>();
    for (int round = -3; round < figures.rounds(); round++) {
      double record = micros.call();
      double other = against.micros().call();
      if (round >= 0) {
        ours.add(record);
        theirs.add(other);
      }
    }
    figures.add(
        new Figure(
            name,
            what + "; against " + against.what(),
            "us",
            new Figure.Side("verbatim", ours),
            new Figure.Side(against.label(), theirs),
            List.of(Goal.parse("ours <= 5")),
            note,
            null));
  }

  private void add(String name, String what, String unit, Costs ours, Costs theirs, String cost)
      throws IOException {
    boolean goal = !List.of("in", "out", "in and out", "spread", "remove").contains(cost);
    figures.add(
        new Figure(
            name,
            what,
            unit,
            new Figure.Side("verbatim", ours.get(cost)),
            new Figure.Side("map statuses", theirs.get(cost)),
            Stream.of("ratio <= 0.1").filter(text -> goal).map(Goal::parse).toList(),
            NOTE,
            null));
  }
}
