package dev.verbatim.examples.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.TransportConfig;
import dev.verbatim.transport.measure.MeasureConfig;
import dev.verbatim.transport.measure.MeasuredOperation;
import dev.verbatim.transport.measure.Measurement;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class ToolOptionsTest {
  private static ToolOptions parse(String... arguments) {
    ToolOptions options = new ToolOptions("100");
    CommandLine.populateCommand(options, arguments);
    return options;
  }

  @Test
  void shouldReadSizesWithUnits() {
    assertEquals(List.of(1L, 2048L, 3L << 20, 1L << 30), bytes("--sizes", "1,2k,3M,1G"));
    for (String wrong : List.of("K", "x", "1T", "9999999999G")) {
      String seen =
          assertThrows(IllegalArgumentException.class, () -> bytes("--sizes", wrong)).getMessage();
      assertTrue(seen.contains(wrong), seen);
    }
    assertThrows(IllegalArgumentException.class, () -> bytes("--sizes", "8,,9"));
  }

  private static List<Long> bytes(String... arguments) {
    return parse(arguments).measurements().stream().map(MeasureConfig::bytes).toList();
  }

  @Test
  void shouldBeTheServerWithoutAnAddress() {
    assertTrue(parse().server().isEmpty());
    assertEquals("10.0.0.7", parse("10.0.0.7").server().get().getAddress().getHostAddress());
    assertEquals(18_515, parse("10.0.0.7").server().get().getPort());
    assertEquals(7, parse("10.0.0.7", "-p", "7").server().get().getPort());
  }

  @Test
  void shouldPassOptionsOn() {
    ToolOptions options =
        parse(
            "-d",
            "mlx5_1",
            "-n",
            "7",
            "-D",
            "1.5",
            "--warm-up",
            "3",
            "--numa-node",
            "1",
            "-I",
            "0",
            "--traffic-class",
            "106");
    TransportConfig transport = options.transport().conclude();
    assertEquals("mlx5_1", transport.deviceName());
    assertEquals(106, transport.trafficClass());
    EndpointConfig endpoints = options.endpoints(3, 8).conclude();
    assertEquals(3, endpoints.maxEndpoints());
    assertEquals(16, endpoints.sendDepth());
    assertEquals(1, endpoints.numaNode());
    assertEquals(0, endpoints.inlineBytes());
    assertEquals(106, endpoints.trafficClass());
    MeasureConfig measure = options.measurements().getFirst();
    assertEquals(100, measure.bytes());
    assertEquals(7, measure.iterations());
    assertEquals(3, measure.warmUp());
    assertEquals(Duration.ofMillis(1500), measure.duration());
  }

  @Test
  void shouldPrintWhatWasMeasured() {
    Measurement measured =
        new Measurement(
            MeasuredOperation.WRITE, 1000, 4, 2, 500, 1_000_000, 1500, 2500, 3500, 4500, 2600.0);
    assertEquals(
        Map.of("#bytes", "1000", "#iterations", "500", "t_typical[usec]", "2.50"),
        table(new RdmaPingPong(), measured, "#bytes", "#iterations", "t_typical[usec]"));
    assertEquals(
        Map.of("t_min[usec]", "1.50", "t_max[usec]", "4.50", "99%[usec]", "3.50"),
        table(new RdmaPingPong(), measured, "t_min[usec]", "t_max[usec]", "99%[usec]"));
    assertEquals(
        Map.of(
            "BW average[MB/sec]", "500.00",
            "BW average[Gb/sec]", "4.000",
            "MsgRate[Mpps]", "0.500000",
            "#qps", "2",
            "depth", "4"),
        table(
            new RdmaBandwidth(),
            measured,
            "BW average[MB/sec]",
            "BW average[Gb/sec]",
            "MsgRate[Mpps]",
            "#qps",
            "depth"));
  }

  private static Map<String, String> table(
      RdmaTool.Columns columns, Measurement measured, String... wanted) {
    List<String> names = columns.names();
    List<String> values = columns.values(measured);
    assertEquals(names.size(), values.size());
    return List.of(wanted).stream()
        .collect(
            java.util.stream.Collectors.toMap(
                name -> name, name -> values.get(names.indexOf(name))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"--operation=NONE", "--depth=x", "--unknown"})
  void shouldRefuseWrongUse(String argument) {
    CommandLine line = RdmaBandwidth.commandLine();
    StringWriter said = new StringWriter();
    line.setErr(new PrintWriter(said));
    assertEquals(2, line.execute(argument));
    assertTrue(said.toString().contains(argument.split("=")[0]), said.toString());
  }
}
