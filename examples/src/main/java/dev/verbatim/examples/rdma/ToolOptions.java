package dev.verbatim.examples.rdma;

import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.TransportConfig;
import dev.verbatim.transport.measure.MeasureConfig;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Options that both tools have. */
final class ToolOptions {
  static final int DEFAULT_PORT = 18_515;

  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "Address of the server's RDMA port; without it this is the server.")
  private InetAddress server;

  @Option(
      names = {"-p", "--port"},
      defaultValue = "" + DEFAULT_PORT,
      description = "Port of the server's listener (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = {"-d", "--device"},
      description = "RDMA device to use (default: the best one).")
  private String device;

  @Option(names = "--address", description = "Own address, which selects the port of a device.")
  private InetAddress address;

  @Option(
      names = {"-s", "--sizes"},
      description =
          "Bytes of a message, in order; K, M and G are 2^10, 2^20, 2^30 (default: ${DEFAULT-VALUE}).")
  private String sizes;

  @Option(
      names = {"-n", "--iterations"},
      defaultValue = "1000",
      description = "Messages of each size (default: ${DEFAULT-VALUE}).")
  private long iterations;

  @Option(
      names = {"-D", "--duration"},
      defaultValue = "0",
      description = "Seconds for each size, instead of a number of messages.")
  private double seconds;

  @Option(
      names = "--warm-up",
      defaultValue = "100",
      description = "Messages before those that count (default: ${DEFAULT-VALUE}).")
  private long warmUp;

  @Option(
      names = "--numa-node",
      defaultValue = "-1",
      description = "NUMA node for the poller (default: the device's).")
  private int numaNode;

  @Option(
      names = {"-I", "--inline"},
      defaultValue = "64",
      description =
          "Bytes up to which a message travels in its request (default: ${DEFAULT-VALUE}).")
  private int inlineBytes;

  @Option(
      names = "--traffic-class",
      defaultValue = "0",
      description = "IP ToS byte of the packets, 0 to 255; 0 leaves the system's.")
  private int trafficClass;

  @Option(names = "--json", description = "File for what was measured.")
  private Path json;

  /**
   * @param sizes that are measured unless others are asked for
   */
  ToolOptions(String sizes) {
    this.sizes = sizes;
  }

  /** Where to measure, empty for the server. */
  Optional<InetSocketAddress> server() {
    return Optional.ofNullable(server).map(host -> new InetSocketAddress(host, port));
  }

  int port() {
    return port;
  }

  Optional<Path> json() {
    return Optional.ofNullable(json);
  }

  TransportConfig transport() {
    // Nothing is read by the transport's own connections.
    int slab = 1 << 20;
    return new TransportConfig()
        .deviceName(device)
        .address(address)
        .localName("measure")
        .slabBytes(slab)
        .poolBytes(slab)
        .maxConnections(1)
        .trafficClass(trafficClass);
  }

  /**
   * @param depth messages under way at a time
   */
  EndpointConfig endpoints(int queuePairs, int depth) {
    return new EndpointConfig()
        .maxEndpoints(queuePairs)
        .sendDepth(2 * depth) // an answer may come before the acknowledgement of what it answers
        .receiveDepth(2 * depth)
        .inlineBytes(inlineBytes)
        .numaNode(numaNode)
        .trafficClass(trafficClass);
  }

  /** A measurement of each size, without what one tool alone knows. */
  List<MeasureConfig> measurements() {
    return Arrays.stream(sizes.split(","))
        .map(
            size ->
                new MeasureConfig()
                    .bytes(bytes(size))
                    .iterations(iterations)
                    .warmUp(warmUp)
                    .duration(Duration.ofNanos((long) (seconds * 1e9))))
        .toList();
  }

  private static long bytes(String word) {
    try {
      int unit = "KMG".indexOf(Character.toUpperCase(word.charAt(word.length() - 1))) + 1;
      String number = unit == 0 ? word : word.substring(0, word.length() - 1);
      return Math.multiplyExact(Long.parseLong(number), 1L << 10 * unit);
    } catch (NumberFormatException | ArithmeticException | IndexOutOfBoundsException e) {
      throw new IllegalArgumentException(
          "--sizes: "
              + (word.isEmpty() ? "nothing" : word)
              + " is no number of bytes, such as 8, 4K or 1M",
          e);
    }
  }
}
