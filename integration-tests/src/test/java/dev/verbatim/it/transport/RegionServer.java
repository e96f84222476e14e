package dev.verbatim.it.transport;

import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.RdmaTransport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A process of its own that serves a region with the pattern until its input ends: a peer that can
 * be killed.
 */
public final class RegionServer {
  private static final String END = "ALL SERVED";

  private RegionServer() {}

  /** What the server tells: how to READ from it. */
  record Served(PeerAddress peer, long iova, int rkey, long length) {
    String line() {
      return "SERVING %s %s %d %d %d %d %d"
          .formatted(
              peer.name(),
              peer.address().getAddress().getHostAddress(),
              peer.address().getPort(),
              peer.challenge(),
              iova,
              rkey,
              length);
    }

    static Served parse(String line) throws IOException {
      String[] words = line.split(" ");
      return new Served(
          new PeerAddress(
              words[1],
              new InetSocketAddress(InetAddress.getByName(words[2]), Integer.parseInt(words[3])),
              Long.parseLong(words[4])),
          Long.parseLong(words[5]),
          Integer.parseInt(words[6]),
          Long.parseLong(words[7]));
    }
  }

  /**
   * @param args the server's name, the bytes to serve, and a file that holds the pattern if not
   *     anonymous memory is to be served
   */
  public static void main(String[] args) throws Exception {
    try (RdmaTransport transport = Transports.open(Transports.config(args[0]))) {
      for (MemoryRegion region : regions(transport, args)) {
        System.out.println(serve(args[0], transport, region).line());
      }
      System.out.println(END);
      while (System.in.read() >= 0) {
        // until the end of the input
      }
    }
  }

  private static List<MemoryRegion> regions(RdmaTransport transport, String[] args)
      throws Exception {
    long bytes = Long.parseLong(args[1]);
    if (args.length > 2) {
      Path file = Path.of(args[2]);
      return transport.registerFile(file, bytes, transport.probe(file.getParent()));
    }
    MemoryRegion region = transport.allocate(bytes);
    Pattern.fill(region.segment());
    return List.of(region);
  }

  static Served serve(String name, RdmaTransport transport, MemoryRegion region) {
    return new Served(
        Transports.address(name, transport), region.iova(), region.rkey(), region.length());
  }

  /** A process of its own with this main class. */
  static ProcessBuilder java(Class<?> main, List<String> args) {
    return java(System.getProperty("java.class.path"), main.getName(), args);
  }

  static ProcessBuilder java(String classPath, String main, List<String> args) {
    List<String> command =
        new ArrayList<>(
            List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classPath,
                main));
    command.addAll(args);
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
  }

  /** The process, seen from the test. */
  record Child(Process process, List<Served> regions) implements AutoCloseable {

    static Child start(String name, long bytes) throws Exception {
      return start(List.of(name, String.valueOf(bytes)), Map.of());
    }

    /**
     * @param environment added to this process's own
     */
    static Child startWithFile(String name, Path file, Map<String, String> environment)
        throws Exception {
      return start(List.of(name, String.valueOf(Files.size(file)), file.toString()), environment);
    }

    private static Child start(List<String> args, Map<String, String> environment)
        throws Exception {
      ProcessBuilder builder = java(RegionServer.class, args);
      builder.environment().putAll(environment);
      Process process = builder.start();
      BufferedReader output =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      List<Served> regions = new ArrayList<>();
      String line = output.readLine();
      while (line != null && !line.equals(END)) {
        if (line.startsWith("SERVING ")) {
          regions.add(Served.parse(line));
        }
        line = output.readLine();
      }
      if (line == null) {
        throw new IOException("the server ended with " + process.waitFor());
      }
      return new Child(process, regions);
    }

    /** The first region. */
    Served served() {
      return regions.getFirst();
    }

    void kill() throws InterruptedException {
      process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws IOException {
      process.getOutputStream().close();
      try {
        if (!process.waitFor(Transports.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
          kill();
        }
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }
}
