package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Peers that end and come back, or do not. */
class RestartDeviceTest extends DeviceTest {
  private static final long REGION = 1 << 20;

  @Test
  void shouldReadFromAPeerThatWasRestartedAtTheSameAddress() throws Exception {
    RdmaTransport reader = open(Transports.config("reader").retryBackoff(Duration.ZERO));
    RdmaTransport first = open("server");
    PeerAddress before = Transports.address("server", first);
    MemoryRegion old = patternRegion(first, REGION);
    PeerConnection connection = Transports.connect(reader, before);
    assertReads(reader, connection, old, 0, REGION);
    long iova = old.iova();
    int rkey = old.rkey();
    first.close();
    Transports.await("the connection is down", () -> !connection.isOpen());

    RdmaTransport second = open(Transports.config("server").listenPort(before.address().getPort()));
    PeerAddress after = Transports.address("server", second);
    assertEquals(before.address(), after.address());
    assertNotEquals(before.challenge(), after.challenge());
    assertContains("WRONG_PEER", connectFails(reader, before));
    MemoryRegion fresh = patternRegion(second, REGION);
    PeerConnection again = Transports.connectEventually(reader, after);
    assertReads(reader, again, fresh, 0, REGION);
    // What was published before is of no use any more.
    post(reader, again, iova, rkey, 100).assertFailed();
  }

  @Test
  void shouldGiveUpTheQueuePairOfAReaderThatIsKilledInMidRead() throws Exception {
    RdmaTransport server = open("server");
    MemoryRegion region = patternRegion(server, REGION);
    ProcessBuilder command =
        RegionServer.java(
            RegionReader.class,
            List.of(RegionServer.serve("server", server, region).line().split(" ")));
    Process reader = command.start();
    try (BufferedReader output = reader.inputReader(StandardCharsets.UTF_8)) {
      assertEquals(RegionReader.READING, output.readLine());
      assertEquals(1, server.counters().queuePairs());
    } finally {
      reader.destroyForcibly().waitFor();
    }
    Transports.await("the queue pair is gone", () -> server.counters().queuePairs() == 0);
    RdmaTransport another = open("another");
    PeerConnection connection =
        Transports.connectEventually(another, Transports.address("server", server));
    assertReads(another, connection, region, 0, REGION);
    assertTrue(server.portActive());
  }
}
