package dev.verbatim.examples.rdma;

import dev.verbatim.examples.ShortErrors;
import dev.verbatim.transport.measure.MeasureConfig;
import dev.verbatim.transport.measure.MeasuredOperation;
import dev.verbatim.transport.measure.Measurement;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Bandwidth of READs, WRITEs and messages between two processes. */
@Command(
    name = "RdmaBandwidth",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Measures the bandwidth of messages of each size between two processes, with several under",
      "way at a time. Start it on one host without SERVER, with the same --queue-pairs and --depth,",
      "then on the other. Exit code: 0 measured, 1 failed, 2 wrong use, 3 no RDMA device."
    })
public final class RdmaBandwidth implements Callable<Integer>, RdmaTool.Columns {
  @Mixin private final ToolOptions options = new ToolOptions("64K,1M");

  @Option(
      names = {"-o", "--operation"},
      defaultValue = "READ",
      description = "READ, WRITE, SEND or PING_PONG (default: ${DEFAULT-VALUE}).")
  private MeasuredOperation operation;

  @Option(
      names = {"-q", "--queue-pairs"},
      defaultValue = "1",
      description = "Connections that are used at a time (default: ${DEFAULT-VALUE}).")
  private int queuePairs;

  @Option(
      names = {"-t", "--depth"},
      defaultValue = "64",
      description = "Messages under way on each queue pair (default: ${DEFAULT-VALUE}).")
  private int depth;

  /** Command line entry. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ShortErrors.on(new CommandLine(new RdmaBandwidth()));
  }

  @Override
  public Integer call() throws Exception {
    if (queuePairs < 1 || depth < 1) {
      throw new IllegalArgumentException("--queue-pairs and --depth are from 1");
    }
    List<MeasureConfig> configs =
        options.measurements().stream()
            .map(config -> config.operation(operation).queuePairs(queuePairs).depth(depth))
            .toList();
    // Room for the connections of the size before, which a server may still have to end.
    return new RdmaTool(options, options.endpoints(2 * queuePairs, depth)).run(configs, this);
  }

  @Override
  public List<String> names() {
    return List.of(
        "#bytes",
        "#iterations",
        "#qps",
        "depth",
        "BW average[MB/sec]",
        "BW average[Gb/sec]",
        "MsgRate[Mpps]",
        "t_typical[usec]");
  }

  @Override
  public List<String> values(Measurement measurement) {
    double megabytes = measurement.megabytesPerSecond();
    return List.of(
        Long.toString(measurement.bytes()),
        Long.toString(measurement.messages()),
        Integer.toString(measurement.queuePairs()),
        Integer.toString(measurement.depth()),
        String.format(Locale.ROOT, "%.2f", megabytes),
        String.format(Locale.ROOT, "%.3f", megabytes / 125),
        String.format(Locale.ROOT, "%.6f", measurement.messagesPerSecond() / 1e6),
        RdmaTool.micros(measurement.medianNanos()));
  }
}
