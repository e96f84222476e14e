package dev.verbatim.it.transport;

import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.measure.MeasureServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process of its own to measure against, until its input ends. */
public final class MeasureServerProcess {
  private static final String SERVES = "MEASURE SERVER ";

  private final Process process;
  private final InetSocketAddress address;

  private MeasureServerProcess(Process process, InetSocketAddress address) {
    this.process = process;
    this.address = address;
  }

  public static void main(String[] args) throws Exception {
    try (RdmaTransport transport = Transports.open(Transports.config("measured"));
        MeasureServer server = MeasureServer.listen(transport.openGroup(new EndpointConfig()), 0)) {
      System.out.println(
          SERVES
              + server.address().getAddress().getHostAddress()
              + " "
              + server.address().getPort());
      while (System.in.read() >= 0) {
        // until the end of the input
      }
    }
  }

  static MeasureServerProcess start() throws IOException {
    Process process = RegionServer.java(MeasureServerProcess.class, List.of()).start();
    BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith(SERVES)) {
        String[] words = line.substring(SERVES.length()).split(" ");
        return new MeasureServerProcess(
            process,
            new InetSocketAddress(InetAddress.getByName(words[0]), Integer.parseInt(words[1])));
      }
    }
    process.destroyForcibly();
    throw new IOException("the server ended");
  }

  InetSocketAddress address() {
    return address;
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Has it end in an orderly way. */
  void end() throws Exception {
    process.getOutputStream().close();
    if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new AssertionError("the server has not ended well");
    }
  }
}
