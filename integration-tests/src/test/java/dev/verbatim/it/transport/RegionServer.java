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
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A process of its own that serves a region with the pattern until its input ends: a peer that can
 * be killed.
 */
public final class RegionServer {
  private RegionServer() {}

  /** What the server tells: how to READ from it. */
  record Served(PeerAddress peer, long iova, int rkey, long length) {
    String line() {
      return "SERVING %s %s %d %d %d %d"
          .formatted(
              peer.name(),
              peer.address().getAddress().getHostAddress(),
              peer.address().getPort(),
              iova,
              rkey,
              length);
    }

    static Served parse(String line) throws IOException {
      String[] words = line.split(" ");
      return new Served(
          new PeerAddress(
              words[1],
              new InetSocketAddress(InetAddress.getByName(words[2]), Integer.parseInt(words[3]))),
          Long.parseLong(words[4]),
          Integer.parseInt(words[5]),
          Long.parseLong(words[6]));
    }
  }

  /**
   * @param args the server's name, and the bytes to serve
   */
  public static void main(String[] args) throws Exception {
    try (RdmaTransport transport = Transports.open(Transports.config(args[0]));
        MemoryRegion region = transport.allocate(Long.parseLong(args[1]))) {
      Pattern.fill(region.segment());
      System.out.println(serve(args[0], transport, region).line());
      while (System.in.read() >= 0) {
        // until the end of the input
      }
    }
  }

  static Served serve(String name, RdmaTransport transport, MemoryRegion region) {
    return new Served(
        Transports.address(name, transport), region.iova(), region.rkey(), region.length());
  }

  /** The process, seen from the test. */
  record Child(Process process, Served served) implements AutoCloseable {

    static Child start(String name, long bytes) throws Exception {
      Process process =
          new ProcessBuilder(
                  List.of(
                      ProcessHandle.current().info().command().orElseThrow(),
                      "-XX:TieredStopAtLevel=1",
                      "-XX:+UseSerialGC",
                      "--enable-native-access=ALL-UNNAMED",
                      "-cp",
                      System.getProperty("java.class.path"),
                      RegionServer.class.getName(),
                      name,
                      String.valueOf(bytes)))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      BufferedReader output =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      String line = output.readLine();
      while (line != null && !line.startsWith("SERVING ")) {
        line = output.readLine();
      }
      if (line == null) {
        throw new IOException("the server ended with " + process.waitFor());
      }
      return new Child(process, Served.parse(line));
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
