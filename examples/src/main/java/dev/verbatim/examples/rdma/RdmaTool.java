package dev.verbatim.examples.rdma;

import dev.verbatim.examples.report.TextTable;
import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.EndpointException;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.RegistrationException;
import dev.verbatim.transport.TransportInfo;
import dev.verbatim.transport.measure.Measure;
import dev.verbatim.transport.measure.MeasureConfig;
import dev.verbatim.transport.measure.MeasureServer;
import dev.verbatim.transport.measure.Measurement;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What both tools do: serve, or measure each size, print a table and write it as JSON. */
final class RdmaTool {
  static final int FAILED = 1;
  static final int NO_DEVICE = 3;

  /** Columns of a table: their names, and their values of one measurement. */
  interface Columns {
    List<String> names();

    List<String> values(Measurement measurement);
  }

  private final ToolOptions options;
  private final EndpointConfig endpoints;

  RdmaTool(ToolOptions options, EndpointConfig endpoints) {
    this.options = options;
    this.endpoints = endpoints;
  }

  /** Answers the exit code. */
  int run(List<MeasureConfig> configs, Columns columns) throws Exception {
    switch (RdmaTransport.open(options.transport())) {
      case OpenResult.Unavailable none -> {
        System.err.println(
            "No RDMA device: " + none.reason() + ", " + none.seen() + "; try: " + none.remedy());
        return NO_DEVICE;
      }
      case OpenResult.Opened opened -> {
        try (RdmaTransport transport = opened.transport();
            EndpointGroup group = transport.openGroup(endpoints)) {
          describe(transport.info());
          if (options.server().isEmpty()) {
            serve(transport, group);
          } else {
            measure(transport.info(), group, options.server().get(), configs, columns);
          }
          return 0;
        } catch (EndpointException | RegistrationException e) {
          System.err.println(e.getMessage());
          return FAILED;
        }
      }
    }
  }

  private static void describe(TransportInfo info) {
    System.out.printf(
        "Device %s port %d (%s), GID %d %s, MTU %d, NUMA node %d%n",
        info.device(),
        info.port(),
        info.linkLayer(),
        info.gidIndex(),
        info.gid(),
        info.pathMtu(),
        info.numaNode());
  }

  /** Until the process is told to end. */
  private void serve(RdmaTransport transport, EndpointGroup group) throws Exception {
    try (MeasureServer server = MeasureServer.listen(group, options.port())) {
      Runtime.getRuntime().addShutdownHook(new Thread(transport::close, "close"));
      System.out.printf(
          "Listening at %s port %d until it is ended (Ctrl-C)%n",
          server.address().getAddress().getHostAddress(), server.address().getPort());
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  private void measure(
      TransportInfo info,
      EndpointGroup group,
      InetSocketAddress server,
      List<MeasureConfig> configs,
      Columns columns)
      throws Exception {
    Measure measure = new Measure(group, server);
    List<Measurement> results = new ArrayList<>();
    List<List<String>> lines = new ArrayList<>(List.of(columns.names()));
    configs.forEach(MeasureConfig::conclude); // before the first one takes its time
    try {
      for (MeasureConfig config : configs) {
        Measurement result = measure.run(config);
        results.add(result);
        lines.add(columns.values(result));
      }
    } finally { // what was measured before another size failed is worth as much
      if (!results.isEmpty()) {
        System.out.printf(
            "%s from %s to %s%n", results.getFirst().operation(), group.address(), server);
        System.out.print(TextTable.align(lines, 0, columns.names().size()));
      }
    }
    if (options.json().isPresent()) {
      MeasurementFile.write(options.json().get(), info, server, results);
    }
  }

  static String micros(double nanos) {
    return String.format(Locale.ROOT, "%.2f", nanos / 1e3);
  }
}
