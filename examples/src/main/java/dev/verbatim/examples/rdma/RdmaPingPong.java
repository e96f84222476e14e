package dev.verbatim.examples.rdma;

import dev.verbatim.examples.ShortErrors;
import dev.verbatim.transport.measure.MeasureConfig;
import dev.verbatim.transport.measure.MeasuredOperation;
import dev.verbatim.transport.measure.Measurement;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Latency of messages, READs and WRITEs between two processes, one at a time. */
@Command(
    name = "RdmaPingPong",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Measures the latency of messages of each size between two processes, on a reliable",
      "connection, one message at a time. Start it on one host without SERVER, then on the other.",
      "Exit code: 0 measured, 1 failed, 2 wrong use, 3 no RDMA device."
    })
public final class RdmaPingPong implements Callable<Integer>, RdmaTool.Columns {
  /** As many clients may measure at a time, one after the other where it matters. */
  private static final int CLIENTS = 16;

  @Mixin private final ToolOptions options = new ToolOptions("2,8,64,512,4K,64K");

  @Option(
      names = {"-o", "--operation"},
      defaultValue = "PING_PONG",
      description = {
        "PING_PONG: half of the way there and back; SEND, WRITE, READ: until the completion",
        "(default: ${DEFAULT-VALUE})."
      })
  private MeasuredOperation operation;

  /** Command line entry. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ShortErrors.on(new CommandLine(new RdmaPingPong()));
  }

  @Override
  public Integer call() throws Exception {
    List<MeasureConfig> configs =
        options.measurements().stream().map(config -> config.operation(operation)).toList();
    return new RdmaTool(options, options.endpoints(CLIENTS, 1)).run(configs, this);
  }

  @Override
  public List<String> names() {
    return List.of(
        "#bytes",
        "#iterations",
        "t_min[usec]",
        "t_max[usec]",
        "t_typical[usec]",
        "t_avg[usec]",
        "99%[usec]");
  }

  @Override
  public List<String> values(Measurement measurement) {
    return List.of(
        Long.toString(measurement.bytes()),
        Long.toString(measurement.messages()),
        RdmaTool.micros(measurement.minNanos()),
        RdmaTool.micros(measurement.maxNanos()),
        RdmaTool.micros(measurement.medianNanos()),
        RdmaTool.micros(measurement.averageNanos()),
        RdmaTool.micros(measurement.p99Nanos()));
  }
}
