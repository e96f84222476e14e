package dev.verbatim.it.transport;

import dev.verbatim.transport.ConnectException;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.TransportConfig;
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
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.ExecutionException;

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
  private static final long REGION = 1 << 20;
  private static final long SPLIT = 64 << 10;
  private static final int FLAP_DELAY_MILLIS = 500;
  private static final int FLAP_MILLIS = 12_000;

  private WireTest() {}

  public static void main(String[] args) throws Exception {
    InetAddress address = InetAddress.getByName(args[1]);
    int port = Integer.parseInt(args[2]);
    switch (args[0]) {
      case "server" -> serve(address, port);
      case "reader" -> {
        Reader reader = new Reader(address, port);
        reader.run();
        System.out.printf("WireTest: %d passed, %d failed%n", reader.passed, reader.failed);
        System.exit(reader.failed == 0 ? 0 : 1);
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

  private static BufferedReader reader(Socket socket) throws IOException {
    return new BufferedReader(
        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  private static PrintWriter writer(Socket socket) throws IOException {
    return new PrintWriter(socket.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  /** The side that reads, and judges. */
  private static final class Reader {
    private final Socket control;
    private final BufferedReader in;
    private final PrintWriter out;
    private RdmaTransport transport;
    private int passed;
    private int failed;

    Reader(InetAddress address, int port) throws Exception {
      control = connectControl(address, port);
      in = reader(control);
      out = writer(control);
    }

    private static Socket connectControl(InetAddress address, int port) throws Exception {
      long end = System.nanoTime() + 2 * Transports.PATIENCE.toNanos();
      while (true) {
        try {
          return new Socket(address, port);
        } catch (IOException e) {
          if (System.nanoTime() > end) {
            throw e;
          }
          Thread.sleep(500);
        }
      }
    }

    private String ask(String order) throws IOException {
      out.println(order);
      String answer = in.readLine();
      if (answer == null) {
        throw new IOException("the server has gone");
      }
      return answer;
    }

    void run() throws Exception {
      try {
        open(Transports.config("reader").maxReadBytes(SPLIT));
        System.out.println("reader: " + transport.info());
        step("lengths from a slab", () -> readLengths(served("slab")));
        step("lengths from a mapped file", () -> readLengths(served("file")));
        step("a deregistered region", this::readDeregistered);
        step("a wrong address", this::readWrongAddress);
        step("a wrong key", this::readWrongKey);
        step("a server that is killed while it is read", this::readWhileTheServerIsKilled);
        step("another application", this::connectAsStranger);
        step("the own port down and up", this::ownPortFlap);
        step("the peer's port down, long timeout", () -> peerPortDown(8_000));
        step("the peer's port down, short timeout", () -> peerPortDown(400));
        step("several queue pairs", this::readStriped);
        System.out.println("server's counters: " + ask("counters"));
        System.out.println("reader's counters: " + transport.counters());
      } finally {
        transport.close();
        control.close();
      }
      step("nothing is left", () -> Transports.assertNothingLeft(transport));
    }

    private interface Step {
      void run() throws Exception;
    }

    private void step(String name, Step step) {
      long start = System.nanoTime();
      String end = "passed";
      try {
        step.run();
        passed++;
      } catch (Exception | AssertionError e) {
        end = "FAILED";
        failed++;
        e.printStackTrace(System.out);
      }
      System.out.printf("%s: %s (%d ms)%n", end, name, (System.nanoTime() - start) / 1_000_000);
    }

    private void open(TransportConfig config) {
      if (transport != null) {
        transport.close();
        Transports.assertNothingLeft(transport);
      }
      transport = Transports.open(config);
    }

    private RegionServer.Served served(String kind) throws IOException {
      return RegionServer.Served.parse(ask(kind));
    }

    private PeerConnection connect(RegionServer.Served served) throws Exception {
      return Transports.connectEventually(transport, served.peer());
    }

    private Outcome read(
        PeerConnection connection, RegionServer.Served from, long at, long length) {
      ReadBuffer buffer = transport.tryAcquire(length).orElseThrow();
      Outcome outcome =
          new Outcome() {
            @Override
            public void onSuccess() {
              Pattern.assertEqualTo(buffer.segment(), at);
              super.onSuccess();
            }
          };
      connection.read(new ReadBatch(outcome).add(from.iova() + at, from.rkey(), buffer, 0, length));
      buffer.release();
      return outcome;
    }

    private void readLengths(RegionServer.Served served) throws Exception {
      PeerConnection connection = connect(served);
      for (long length : new long[] {1, 8, 4095, 4096, 4097, SPLIT - 1, SPLIT, SPLIT + 1, REGION}) {
        read(connection, served, 0, length).assertSucceeded();
        read(connection, served, REGION - length, length).assertSucceeded();
      }
    }

    private void readDeregistered() throws Exception {
      RegionServer.Served served = served("file");
      ask("deregister");
      read(connect(served), served, 0, 100).assertFailed(ReadFailure.Kind.REMOTE_ACCESS);
      RegionServer.Served slab = served("slab");
      read(connect(slab), slab, 0, 100).assertSucceeded();
    }

    private void readWrongAddress() throws Exception {
      RegionServer.Served served = served("slab");
      ReadBuffer buffer = transport.tryAcquire(100).orElseThrow();
      Outcome outcome = new Outcome();
      connect(served)
          .read(
              new ReadBatch(outcome)
                  .add(served.iova() + REGION - 50, served.rkey(), buffer, 0, 100));
      outcome.assertFailed(ReadFailure.Kind.REMOTE_ACCESS);
      buffer.release();
    }

    private void readWrongKey() throws Exception {
      RegionServer.Served served = served("slab");
      int wrong = served.rkey() ^ 0x0100;
      RegionServer.Served guessed =
          new RegionServer.Served(served.peer(), served.iova(), wrong, served.length());
      read(connect(served), guessed, 0, 100).assertFailed(ReadFailure.Kind.REMOTE_ACCESS);
      read(connect(served), served, 0, 100).assertSucceeded();
    }

    private void readWhileTheServerIsKilled() throws Exception {
      RegionServer.Served victim = served("victim");
      PeerConnection connection = connect(victim);
      read(connection, victim, 0, REGION).assertSucceeded();
      out.println("kill");
      ReadFailure failure = null;
      while (failure == null) {
        failure = read(connection, victim, 0, REGION).awaitEnd();
      }
      System.out.println("  " + failure);
      check(
          EnumSet.of(
                  ReadFailure.Kind.PEER_UNREACHABLE,
                  ReadFailure.Kind.REMOTE_ACCESS,
                  ReadFailure.Kind.DISCONNECTED)
              .contains(failure.kind()),
          failure.toString());
      check("done".equals(in.readLine()), "the server did not kill it");
      RegionServer.Served slab = served("slab");
      read(connect(slab), slab, 0, REGION).assertSucceeded();
    }

    private void connectAsStranger() throws Exception {
      PeerAddress peer = served("slab").peer();
      try (RdmaTransport stranger =
          Transports.open(Transports.config("stranger").applicationToken(new byte[] {1, 2, 3}))) {
        Transports.connect(stranger, peer);
        throw new AssertionError("connected");
      } catch (ExecutionException e) {
        check(
            e.getCause() instanceof ConnectException
                && e.getCause().getMessage().contains("APPLICATION"),
            e.getCause().toString());
      }
    }

    private void ownPortFlap() throws Exception {
      RegionServer.Served served = served("slab");
      PeerConnection connection = connect(served);
      PortControl.down();
      Transports.await("port down", () -> !transport.portActive());
      Transports.await("connection down", () -> !connection.isOpen());
      read(connection, served, 0, 1).assertFailed();
      PortControl.up();
      Transports.await("port up", transport::portActive);
      read(connect(served), served, 0, REGION).assertSucceeded();
    }

    private void peerPortDown(int readTimeoutMillis) throws Exception {
      RegionServer.Served served = served("slab");
      open(
          Transports.config("reader")
              .maxReadBytes(SPLIT)
              .readTimeout(Duration.ofMillis(readTimeoutMillis)));
      PeerConnection connection = connect(served);
      ask("flap");
      ReadFailure failure = null;
      long start = 0;
      while (failure == null) {
        start = System.nanoTime();
        Outcome outcome = read(connection, served, 0, 4096);
        Transports.await("the end of a READ", outcome::hasEnded);
        failure = outcome.failure();
      }
      long millis = (System.nanoTime() - start) / 1_000_000;
      System.out.printf("  after %d ms: %s%n", millis, failure);
      check(
          EnumSet.of(
                  ReadFailure.Kind.PEER_UNREACHABLE,
                  ReadFailure.Kind.DEADLINE,
                  ReadFailure.Kind.DISCONNECTED)
              .contains(failure.kind()),
          failure.toString());
      check(millis < FLAP_MILLIS, "the failure waited for the port to come back");
      RegionServer.Served again = served("slab"); // answered when the port is up again
      open(Transports.config("reader").maxReadBytes(SPLIT));
      read(connect(again), again, 0, REGION).assertSucceeded();
    }

    private void readStriped() throws Exception {
      open(Transports.config("reader").maxReadBytes(SPLIT).qpsPerPeer(4));
      RegionServer.Served served = served("slab");
      read(connect(served), served, 0, REGION).assertSucceeded();
      check(transport.counters().queuePairs() == 4, transport.counters().toString());
    }

    private static void check(boolean condition, String seen) {
      if (!condition) {
        throw new AssertionError(seen);
      }
    }
  }
}
