package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.machine.Iwarp;
import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.ConnectException;
import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.EndpointException;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.TransportConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

/**
 * Tests on a device; after each, nothing may be left: at the device, as counted, as threads, as
 * descriptors and mappings of the process.
 */
@Tag("device")
abstract class DeviceTest {
  /**
   * How a READ ends that the peer's device refuses. An iWARP device ends the connection instead of
   * answering, so that nothing tells why.
   */
  static final ReadFailure.Kind REFUSED =
      Iwarp.present() ? ReadFailure.Kind.DISCONNECTED : ReadFailure.Kind.REMOTE_ACCESS;

  /** What the libraries open at their first use, and keep, is open. */
  private static boolean warm;

  private final List<RdmaTransport> opened = new ArrayList<>();
  private final List<RegionServer.Child> processes = new ArrayList<>();

  private Holdings before;

  @BeforeEach
  void healDeviceAndLookAtTheProcess() throws Exception {
    healDevice();
    if (!warm) {
      Transports.open(Transports.config("first")).close();
      warm = true;
    }
    before = Holdings.now();
  }

  private static void healDevice() throws Exception {
    if (StandInFaults.present()) {
      StandInFaults.set("");
    }
  }

  @AfterEach
  void closeAllAndLookForLeaks() throws Exception {
    healDevice();
    for (RegionServer.Child process : processes) {
      process.kill();
    }
    opened.reversed().forEach(RdmaTransport::close);
    opened.forEach(Transports::assertNothingLeft);
    assertEquals(List.of(), transportThreads());
    StandInCounters.assertNothingLeft();
    before.assertNothingMore();
  }

  private static List<String> transportThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("verbatim-"))
        .toList();
  }

  /** Opens a transport that is closed after the test. */
  RdmaTransport open(TransportConfig config) {
    RdmaTransport transport = Transports.open(config);
    opened.add(transport);
    return transport;
  }

  RdmaTransport open(String name) {
    return open(Transports.config(name));
  }

  /** Opens a group of endpoints on a transport of its own. */
  EndpointGroup group(String name, EndpointConfig config) throws EndpointException {
    return open(name).openGroup(config);
  }

  /** Has another process killed after the test, if it runs by then. */
  RegionServer.Child killedAfterwards(RegionServer.Child process) {
    processes.add(process);
    return process;
  }

  static MemoryRegion patternRegion(RdmaTransport server, long bytes) throws Exception {
    MemoryRegion region = server.allocate(bytes);
    Pattern.fill(region.segment());
    return region;
  }

  /** Waits for the connection to fail and answers why. */
  static String connectFails(RdmaTransport from, PeerAddress to) {
    ExecutionException failure =
        assertThrows(ExecutionException.class, () -> Transports.connect(from, to));
    return assertInstanceOf(ConnectException.class, failure.getCause()).getMessage();
  }

  static void assertContains(String part, String text) {
    assertTrue(text.contains(part), text);
  }

  /** Posts one READ; its outcome also gives the buffer back. */
  static Outcome post(
      RdmaTransport reader, PeerConnection connection, long iova, int rkey, long length) {
    ReadBuffer buffer = reader.tryAcquire(length).orElseThrow();
    Outcome outcome = new Outcome();
    connection.read(new ReadBatch(outcome).add(iova, rkey, buffer, 0, length));
    buffer.release();
    return outcome;
  }

  static void assertReads(
      RdmaTransport reader,
      PeerConnection connection,
      RegionServer.Served region,
      long from,
      long length)
      throws Exception {
    assertReads(reader, connection, region.iova(), region.rkey(), from, length);
  }

  static void assertReads(
      RdmaTransport reader, PeerConnection connection, MemoryRegion region, long from, long length)
      throws Exception {
    assertReads(reader, connection, region.iova(), region.rkey(), from, length);
  }

  /**
   * @param iova of the pattern's first byte
   */
  static void assertReads(
      RdmaTransport reader, PeerConnection connection, long iova, int rkey, long from, long length)
      throws Exception {
    ReadBuffer buffer = reader.tryAcquire(length).orElseThrow();
    try {
      buffer.segment().fill((byte) 0);
      Outcome outcome = new Outcome();
      connection.read(new ReadBatch(outcome).add(iova + from, rkey, buffer, 0, length));
      outcome.assertSucceeded();
      Pattern.assertEqualTo(buffer.segment(), from);
    } finally {
      buffer.release();
    }
  }
}
