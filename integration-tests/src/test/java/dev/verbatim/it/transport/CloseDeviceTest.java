package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Closing in the middle of things; that nothing is left is checked after each test. */
class CloseDeviceTest extends DeviceTest {
  private static final long REGION = 1 << 20;

  @Test
  void shouldTellEveryBatchItsEndWhenClosedWhileManyThreadsRead() throws Exception {
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    MemoryRegion region = patternRegion(server, REGION);
    PeerConnection connection = Transports.connect(reader, Transports.address("server", server));
    int threads = 4;
    List<List<Outcome>> outcomes = new ArrayList<>();
    CountDownLatch ended = new CountDownLatch(threads);
    for (int t = 0; t < threads; t++) {
      List<Outcome> own = new ArrayList<>();
      outcomes.add(own);
      Thread.ofPlatform()
          .start(
              () -> {
                readUntilClosed(reader, connection, region, own);
                ended.countDown();
              });
    }
    Transports.await("READs are under way", () -> reader.counters().readsCompleted() > 100);
    if (StandInFaults.present()) {
      StandInFaults.set("read delay_us=200000"); // so that some are under way at any moment
      Thread.sleep(20); // the undelayed ones are over
      Transports.await("a READ is under way", () -> reader.counters().poolUsedBytes() > 0);
    }
    reader.close();
    assertTrue(ended.await(60, TimeUnit.SECONDS));
    int failed = 0;
    for (List<Outcome> own : outcomes) {
      for (Outcome outcome : own) {
        failed += outcome.awaitEnd() == null ? 0 : 1;
      }
    }
    assertTrue(failed > 0 || !StandInFaults.present(), "nothing was under way");
  }

  private static void readUntilClosed(
      RdmaTransport reader, PeerConnection connection, MemoryRegion region, List<Outcome> own) {
    try {
      while (true) {
        own.add(post(reader, connection, region.iova(), region.rkey(), 300_000));
        while (own.size() > 8 && !own.get(own.size() - 8).hasEnded()) {
          Thread.sleep(1);
        }
      }
    } catch (IllegalStateException e) {
      return; // the transport is closed
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void shouldFailConnectingWhenClosedMeanwhile() throws Exception {
    StandInFaults.assumePresent();
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    StandInFaults.set("cm silent");
    CompletableFuture<PeerConnection> future = reader.connect(Transports.address("server", server));
    Transports.await("the queue pair is made", () -> reader.counters().queuePairs() == 1);
    reader.close();
    ExecutionException failure =
        assertThrows(ExecutionException.class, () -> future.get(1, TimeUnit.SECONDS));
    assertTrue(failure.getMessage().contains("closed"), failure.getMessage());
  }

  @Test
  void shouldCloseFromAListener() throws Exception {
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    MemoryRegion region = patternRegion(server, 4096);
    PeerConnection connection = Transports.connect(reader, Transports.address("server", server));
    ReadBuffer buffer = reader.tryAcquire(100).orElseThrow();
    Outcome outcome =
        new Outcome() {
          @Override
          public void onSuccess() {
            reader.close();
            super.onSuccess();
          }
        };
    connection.read(new ReadBatch(outcome).add(region.iova(), region.rkey(), buffer, 0, 100));
    buffer.release();
    outcome.assertSucceeded();
    Transports.await("all is closed", () -> reader.counters().memoryRegions() == 0);
    Transports.await(
        "its threads have ended",
        () ->
            Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("verbatim-"))
                    .count()
                == 2);
  }

  @Test
  void shouldOpenAndCloseAgainAndAgain() throws Exception {
    RdmaTransport server = open("server");
    MemoryRegion region = patternRegion(server, 4096);
    PeerAddress address = Transports.address("server", server);
    for (int i = 0; i < 10; i++) {
      RdmaTransport reader = open("reader");
      assertReads(reader, Transports.connect(reader, address), region, 0, 4096);
      reader.close();
    }
    Transports.await("the peer has noticed", () -> server.counters().queuePairs() == 0);
    Transports.await("all accepted", () -> server.counters().connectsAccepted() == 10);
  }
}
