package dev.verbatim.bench;

import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.Goal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * Compares {@link ReadCost} with its counterpart in C: for each size and batch they take turns, a
 * process each. Figures are of the one thread that posts and polls.
 */
@Command(name = "read-cost", mixinStandardHelpOptions = true)
public final class ReadCostComparison implements Callable<Integer> {
  private static final double NANOS_IN_C = 500_000_000;
  private static final String NOTE =
      "The device is a stand-in that completes work requests as they are posted. Both send queues"
          + " are %d deep and signal each %dth READ and the last of a batch"
              .formatted(ReadCost.SEND_QUEUE_DEPTH, ReadCost.SEND_QUEUE_DEPTH / 4);

  private static final String HEAP_NOTE =
      "One object of 16 bytes for each batch of 64 would be 0.25; what is less than 0.001 is JMH's"
          + " own between iterations";

  @Parameters(index = "0", description = "The counterpart in C.")
  private Path program;

  @Parameters(index = "1", split = ",", description = "Bytes of a READ.")
  private List<Integer> sizes;

  @Parameters(index = "2", split = ",", description = "READs that are posted together.")
  private List<Integer> batches;

  @Mixin private FigureOptions figures;

  /** Per READ: nanoseconds of CPU, bytes of heap. */
  private record Cost(double nanos, double heapBytes) {}

  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new ReadCostComparison())).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    for (int size : sizes) {
      for (int batch : batches) {
        compare(size, batch);
      }
    }
    return 0;
  }

  private void compare(int size, int batch) throws Exception {
    List<Double> ours = new ArrayList<>();
    List<Double> inC = new ArrayList<>();
    List<Double> heap = new ArrayList<>();
    for (int round = 0; round < figures.rounds(); round++) {
      if (round % 2 == 1) {
        inC.add(inC(size, batch));
      }
      Cost cost = ours(size, batch);
      ours.add(cost.nanos());
      heap.add(cost.heapBytes());
      if (round % 2 == 0) {
        inC.add(inC(size, batch));
      }
    }
    String of = size + "-bytes-batch-" + batch;
    String reads = "READ of " + size + " bytes, " + batch + " posted together";
    figures.add(
        new Figure(
            "read-cost-" + of,
            "CPU per " + reads,
            "ns",
            new Figure.Side("verbatim", ours),
            new Figure.Side("C", inC),
            List.of(Goal.parse("ratio <= 2"), Goal.parse("ours <= 250")),
            NOTE,
            null));
    figures.add(
        new Figure(
            "read-heap-" + of,
            "Java heap allocated per " + reads,
            "bytes",
            new Figure.Side("verbatim", heap),
            null,
            List.of(Goal.parse("ours <= 0.001")),
            HEAP_NOTE,
            null));
  }

  private static Cost ours(int size, int batch) throws RunnerException {
    RunResult result =
        new Runner(
                new OptionsBuilder()
                    .include(ReadCost.class.getName() + "\\.read$")
                    .param("size", String.valueOf(size))
                    .param("batch", String.valueOf(batch))
                    .forks(1)
                    .warmupIterations(3)
                    .warmupTime(TimeValue.milliseconds(700))
                    .measurementIterations(3)
                    .measurementTime(TimeValue.milliseconds(500))
                    .jvmArgs(
                        "-Xmx256m",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow")
                    .shouldFailOnError(true)
                    .verbosity(VerboseMode.SILENT)
                    .build())
            .runSingle();
    double reads = sum(result, "reads");
    return new Cost(sum(result, "cpuNanos") / reads, sum(result, "heapBytes") / reads);
  }

  private static double sum(RunResult result, String counter) {
    double sum = 0;
    for (IterationResult iteration :
        result.getBenchmarkResults().iterator().next().getIterationResults()) {
      sum += iteration.getSecondaryResults().get(counter).getScore();
    }
    return sum;
  }

  /** Nanoseconds of CPU per READ, of as many READs as take long enough. */
  private double inC(int size, int batch) throws IOException, InterruptedException {
    long reads = 100_000;
    while (true) {
      double nanos = inC(size, batch, reads);
      if (nanos * reads >= NANOS_IN_C / 2) {
        return nanos;
      }
      reads = (long) (reads * Math.max(2, NANOS_IN_C / (nanos * reads)));
    }
  }

  private double inC(int size, int batch, long reads) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                program.toString(),
                String.valueOf(size),
                String.valueOf(batch),
                String.valueOf(reads),
                String.valueOf(ReadCost.SEND_QUEUE_DEPTH))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String line = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    if (process.waitFor() != 0) {
      throw new IOException(program + " failed");
    }
    return Double.parseDouble(line.trim());
  }
}
