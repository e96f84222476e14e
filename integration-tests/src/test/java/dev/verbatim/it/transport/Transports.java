package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.TransportConfig;
import dev.verbatim.transport.TransportCounters;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Opens transports on the device of this machine and waits for what happens on them. */
final class Transports {
  static final byte[] TOKEN = "the secret of the application".getBytes();

  /** Generous: an emulated guest is slow, and nothing here measures time. */
  static final Duration PATIENCE = Duration.ofSeconds(60);

  private Transports() {}

  static TransportConfig config(String name) {
    return new TransportConfig()
        .localName(name)
        .applicationToken(TOKEN)
        .poolBytes(64 << 20)
        .slabBytes(4 << 20)
        .connectTimeout(Duration.ofSeconds(10))
        .readTimeout(Duration.ofSeconds(20))
        .retryBackoff(Duration.ofMillis(200))
        .maxConnections(64);
  }

  /** Fails the test when there is no device: who runs these tests has one. */
  static RdmaTransport open(TransportConfig config) {
    return switch (RdmaTransport.open(config)) {
      case OpenResult.Opened opened -> opened.transport();
      case OpenResult.Unavailable none ->
          fail(none.reason() + ": " + none.seen() + "; " + none.remedy());
    };
  }

  static PeerAddress address(String name, RdmaTransport transport) {
    return new PeerAddress(name, transport.self().address(), transport.self().challenge());
  }

  static PeerConnection connect(RdmaTransport from, PeerAddress to) throws Exception {
    return from.connect(to).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  /** Connects, trying again while the back-off lasts. */
  static PeerConnection connectEventually(RdmaTransport from, PeerAddress to) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        return connect(from, to);
      } catch (java.util.concurrent.ExecutionException e) {
        if (System.nanoTime() > end) {
          throw e;
        }
        Thread.sleep(100);
      }
    }
  }

  static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        fail("not within " + PATIENCE + ": " + what);
      }
      Thread.sleep(5);
    }
  }

  static void assertNothingLeft(RdmaTransport transport) {
    TransportCounters counters = transport.counters();
    assertEquals(0, counters.queuePairs(), "queue pairs");
    assertEquals(0, counters.memoryRegions(), "memory regions");
    assertEquals(0, counters.registeredBytes(), "registered bytes");
    assertEquals(0, counters.mappings(), "memory mappings");
    assertEquals(0, counters.poolUsedBytes(), "bytes of buffers in use");
  }
}
