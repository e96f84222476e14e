package dev.verbatim.it.transport;

import dev.verbatim.it.machine.RdmaLink;
import dev.verbatim.transport.ConnectException;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.TransportConfig;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ExecutionException;

/** The side of {@link WireTest} that reads, and judges. */
final class WireReader {
  private static final long SPLIT = 64 << 10;

  /** Longest that a step may read while packets are disturbed. */
  private static final Duration DISTURBED = Duration.ofSeconds(20);

  /** Packets that must be lost before a lossy wire proves something. */
  private static final int ENOUGH_LOST = 3;

  /** What a READ whose packets are lost may end with. */
  private static final Set<ReadFailure.Kind> LATE =
      EnumSet.of(
          ReadFailure.Kind.PEER_UNREACHABLE,
          ReadFailure.Kind.DEADLINE,
          ReadFailure.Kind.DISCONNECTED);

  private final Socket control;
  private final BufferedReader in;
  private final PrintWriter out;
  private RdmaTransport transport;
  private int passed;
  private int failed;

  WireReader(InetAddress address, int port) throws Exception {
    control = connectControl(address, port);
    in = WireTest.reader(control);
    out = WireTest.writer(control);
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

  /** Answers whether all steps passed. */
  boolean run() throws Exception {
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
      step("0.1 % of packets lost", () -> readOnLossyWire("loss 0.1%", WireTest.REGION));
      step("1 % of packets lost", () -> readOnLossyWire("loss 1%", WireTest.REGION));
      step("5 % of packets lost", () -> readOnLossyWire("loss 5%", SPLIT));
      step("a quarter out of order", () -> readOnBadWire("delay 5ms reorder 25%", SPLIT, 0));
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
    System.out.printf("WireTest: %d passed, %d failed%n", passed, failed);
    return failed == 0;
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

  private Outcome read(PeerConnection connection, RegionServer.Served from, long at, long length) {
    ReadBuffer buffer = transport.tryAcquire(length).orElseThrow();
    Outcome outcome =
        new Outcome() {
          @Override
          public void onSuccess() {
            Pattern.assertEqualTo(buffer.segment(), at);
            buffer.release();
            super.onSuccess();
          }

          @Override
          public void onFailure(ReadFailure cause) {
            buffer.release();
            super.onFailure(cause);
          }
        };
    connection.read(new ReadBatch(outcome).add(from.iova() + at, from.rkey(), buffer, 0, length));
    return outcome;
  }

  private void readLengths(RegionServer.Served served) throws Exception {
    PeerConnection connection = connect(served);
    for (long length :
        new long[] {1, 8, 4095, 4096, 4097, SPLIT - 1, SPLIT, SPLIT + 1, WireTest.REGION}) {
      read(connection, served, 0, length).assertSucceeded();
      read(connection, served, WireTest.REGION - length, length).assertSucceeded();
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
                .add(served.iova() + WireTest.REGION - 50, served.rkey(), buffer, 0, 100));
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
    read(connection, victim, 0, WireTest.REGION).assertSucceeded();
    out.println("kill");
    ReadFailure failure = null;
    while (failure == null) {
      failure = read(connection, victim, 0, WireTest.REGION).awaitEnd();
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
    read(connect(slab), slab, 0, WireTest.REGION).assertSucceeded();
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

  private void readOnLossyWire(String disturbance, long length) throws Exception {
    readOnBadWire(disturbance, length, ENOUGH_LOST);
  }

  /**
   * READs until enough packets were lost and the devices have repeated some. A READ that is not
   * repaired in time may fail, but some must succeed, and those bring the right bytes.
   *
   * @param length bytes of each READ
   * @param enough packets that must be lost
   */
  private void readOnBadWire(String disturbance, long length, int enough) throws Exception {
    open(
        Transports.config("reader")
            .maxReadBytes(SPLIT)
            .readTimeout(DISTURBED.dividedBy(2))
            .retryBackoff(Duration.ZERO));
    RegionServer.Served served = served("slab");
    connect(served);
    long repeatedBefore = number(WireTest.REPEATED) + RdmaLink.repeated();
    int succeeded = 0;
    int failed = 0;
    long lost;
    long repeated;
    boolean proven;
    long end = System.nanoTime() + DISTURBED.toNanos();
    ask(WireTest.DISTURB + disturbance);
    RdmaLink.disturb(disturbance);
    try {
      do {
        ReadFailure failure = read(connect(served), served, 0, length).awaitEnd();
        if (failure == null) {
          succeeded++;
        } else {
          failed++;
          check(LATE.contains(failure.kind()), failure.toString());
        }
        lost = number(WireTest.DROPPED) + RdmaLink.dropped();
        repeated = number(WireTest.REPEATED) + RdmaLink.repeated() - repeatedBefore;
        proven = lost >= enough && repeated > 0 && succeeded > 0;
      } while (!proven && System.nanoTime() < end);
    } finally {
      RdmaLink.heal();
      ask(WireTest.HEAL);
    }
    String seen =
        "%d READs of %d bytes, %d failed, %d packets lost, %d repeated"
            .formatted(succeeded + failed, length, failed, lost, repeated);
    System.out.println("  " + seen);
    check(proven, seen);
    check(transport.counters().readBytes() >= succeeded * length, seen);
    read(connect(served), served, 0, WireTest.REGION).assertSucceeded();
  }

  private long number(String order) throws IOException {
    return Long.parseLong(ask(order));
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
    read(connect(served), served, 0, WireTest.REGION).assertSucceeded();
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
    check(LATE.contains(failure.kind()), failure.toString());
    check(millis < WireTest.FLAP_MILLIS, "the failure waited for the port to come back");
    RegionServer.Served again = served("slab"); // answered when the port is up again
    open(Transports.config("reader").maxReadBytes(SPLIT));
    read(connect(again), again, 0, WireTest.REGION).assertSucceeded();
  }

  private void readStriped() throws Exception {
    open(Transports.config("reader").maxReadBytes(SPLIT).qpsPerPeer(4));
    RegionServer.Served served = served("slab");
    read(connect(served), served, 0, WireTest.REGION).assertSucceeded();
    check(transport.counters().queuePairs() == 4, transport.counters().toString());
  }

  private static void check(boolean condition, String seen) {
    if (!condition) {
      throw new AssertionError(seen);
    }
  }
}
