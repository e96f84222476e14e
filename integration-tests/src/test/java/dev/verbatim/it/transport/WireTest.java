package dev.verbatim.it.transport;

import dev.verbatim.it.machine.RdmaLink;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.RdmaTransport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Transport tests between two machines: one serves, the other reads. They agree over a TCP
 * connection of their own, so that the RDMA port may go down meanwhile.
 *
 * <pre>
 * WireTest server CONTROL_ADDRESS PORT
 * WireTest reader CONTROL_ADDRESS PORT
 * </pre>
 *
 * {@code VERBATIM_PORT_CONTROL} is the command that takes a side's own port down and up, as for
 * {@link PortControl}. The reader's last line is {@code WireTest: N passed, M failed}; the exit
 * code of both sides is 0 when all passed.
 */
public final class WireTest {
  static final long REGION = 1 << 20;

  /** Orders to the server: what it is to do to its link, or to tell of it. */
  static final String DISTURB = "disturb ";

  static final String HEAL = "heal";
  static final String DROPPED = "dropped";
  static final String REPEATED = "repeated";

  private static final int FLAP_DELAY_MILLIS = 500;
  static final int FLAP_MILLIS = 12_000;

  private WireTest() {}

  public static void main(String[] args) throws Exception {
    InetAddress address = InetAddress.getByName(args[1]);
    int port = Integer.parseInt(args[2]);
    switch (args[0]) {
      case "server" -> serve(address, port);
      case "reader" -> {
        WireReader reader = new WireReader(address, port);
        System.exit(reader.run() ? 0 : 1);
      }
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  private static void serve(InetAddress address, int port) throws Exception {
    Path file = Files.createTempFile("verbatim-wire", ".data");
    Pattern.write(file, REGION);
    RdmaTransport transport = Transports.open(Transports.config("server"));
    RegionServer.Child victim = null;
    try (ServerSocket listener = new ServerSocket(port, 1, address);
        Socket control = listener.accept()) {
      System.out.println("server: " + transport.info());
      BufferedReader in = reader(control);
      PrintWriter out = writer(control);
      MemoryRegion slab = transport.allocate(REGION);
      Pattern.fill(slab.segment());
      FilePinMode mode = transport.probe(file.getParent());
      MemoryRegion mapped = transport.registerFile(file, REGION, mode).getFirst();
      Files.delete(file);
      String order = in.readLine();
      while (order != null) {
        switch (order) {
          case "slab" -> out.println(RegionServer.serve("server", transport, slab).line());
          case "file" -> out.println(RegionServer.serve("server", transport, mapped).line());
          case "deregister" -> {
            mapped.close();
            out.println("done");
          }
          case "flap" -> {
            // Answered first: the answer might have to leave by the same link.
            out.println("done");
            Thread.sleep(FLAP_DELAY_MILLIS);
            PortControl.down();
            Transports.await("port down", () -> !transport.portActive());
            Thread.sleep(FLAP_MILLIS);
            PortControl.up();
            Transports.await("port up", transport::portActive);
          }
          case "victim" -> {
            victim = RegionServer.Child.start("victim", REGION);
            out.println(victim.served().line());
          }
          case "kill" -> {
            victim.kill();
            out.println("done");
          }
          case String words when words.startsWith(DISTURB) -> {
            RdmaLink.disturb(words.substring(DISTURB.length()));
            out.println("done");
          }
          case HEAL -> {
            RdmaLink.heal();
            out.println("done");
          }
          case DROPPED -> out.println(RdmaLink.dropped());
          case REPEATED -> out.println(RdmaLink.repeated());
          case "counters" -> out.println(transport.counters());
          default -> throw new IOException(order);
        }
        order = in.readLine();
      }
    } finally {
      transport.close();
      if (victim != null) {
        victim.kill();
      }
    }
    Transports.assertNothingLeft(transport);
    System.out.println("server: nothing is left");
  }

  static BufferedReader reader(Socket socket) throws IOException {
    return new BufferedReader(
        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  static PrintWriter writer(Socket socket) throws IOException {
    return new PrintWriter(socket.getOutputStream(), true, StandardCharsets.UTF_8);
  }
}
