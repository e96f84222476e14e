package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many threads use a transport while it closes, again and again. */
class CloseRaceDeviceTest extends DeviceTest {
  private static final int LENGTH = 200_000;
  private static final int FILE_BYTES = 10_000;

  @TempDir private Path directory;

  private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
  private final Queue<CompletableFuture<PeerConnection>> connects = new ConcurrentLinkedQueue<>();
  private final Queue<Throwable> unexpected = new ConcurrentLinkedQueue<>();
  private final AtomicInteger read = new AtomicInteger();
  private Path file;
  private PeerAddress address;
  private MemoryRegion served;
  private RdmaTransport transport;

  /** Does something with the transport once; throws IllegalStateException when that is closed. */
  private interface Use {
    void once() throws Exception;
  }

  @BeforeEach
  void serve() throws Exception {
    RdmaTransport server = open("server");
    served = patternRegion(server, LENGTH);
    address = Transports.address("server", server);
    file = directory.resolve("shuffle.data");
    Pattern.write(file, FILE_BYTES);
  }

  @Test
  void shouldEndAllThatIsUnderWayWhateverIsUsedMeanwhile() throws Exception {
    int rounds = StandInFaults.present() ? 50 : 5;
    for (int round = 0; round < rounds; round++) {
      transport = Transports.open(Transports.config("reader"));
      Transports.connect(transport, address);
      List<Thread> threads = new ArrayList<>();
      for (Use use :
          List.<Use>of(
              this::read,
              this::read,
              this::read,
              this::disconnect,
              this::registerAndClose,
              this::registerAndLeave,
              this::allocate,
              this::touchBuffer,
              this::takeTheWholePool)) {
        threads.add(Thread.ofPlatform().start(() -> repeat(use)));
      }
      Thread.sleep(ThreadLocalRandom.current().nextInt(30));
      Thread other = Thread.ofPlatform().start(transport::close);
      transport.close();
      other.join();
      for (Thread thread : threads) {
        assertTrue(thread.join(Transports.PATIENCE), () -> thread + " goes on");
      }
      assertEnded();
    }
    assertTrue(read.get() > rounds, read + " READs ended well");
  }

  private void assertEnded() throws Exception {
    assertEquals(List.of(), List.copyOf(unexpected));
    for (Outcome outcome : outcomes) {
      read.addAndGet(outcome.awaitEnd() == null ? 1 : 0);
    }
    outcomes.clear();
    for (CompletableFuture<PeerConnection> connect : connects) {
      connect.handle((connection, failure) -> null).get(10, TimeUnit.SECONDS);
    }
    connects.clear();
    Transports.assertNothingLeft(transport);
    assertEquals(0, Holdings.mappingsOf(file));
  }

  private void repeat(Use use) {
    try {
      while (true) {
        use.once();
      }
    } catch (IllegalStateException e) {
      return; // closed
    } catch (Throwable e) {
      unexpected.add(e);
    }
  }

  private void read() throws Exception {
    PeerConnection connection = connect();
    Optional<ReadBuffer> buffer = transport.tryAcquire(LENGTH);
    if (connection == null || buffer.isEmpty()) {
      buffer.ifPresent(ReadBuffer::release);
      return;
    }
    Outcome outcome = new Outcome();
    outcomes.add(outcome);
    connection.read(
        new ReadBatch(outcome).add(served.iova(), served.rkey(), buffer.get(), 0, LENGTH));
    buffer.get().release();
    if (outcomes.size() % 8 == 0) {
      outcome.awaitEnd();
    }
  }

  /** Null where the attempt failed. */
  private PeerConnection connect() throws Exception {
    CompletableFuture<PeerConnection> future = transport.connect(address);
    connects.add(future);
    try {
      return future.get(Transports.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      return null;
    }
  }

  private void disconnect() throws Exception {
    Thread.sleep(5);
    transport.counters();
    transport.info();
    transport.disconnect("server");
  }

  private void registerAndClose() throws Exception {
    for (MemoryRegion region :
        transport.registerFile(file, FILE_BYTES, FilePinMode.READ_ONLY_MAPPING)) {
      assertEquals(
          region.segment().get(ValueLayout.JAVA_BYTE, 1),
          region.segment().get(ValueLayout.JAVA_BYTE, 1));
      region.close();
    }
  }

  private void registerAndLeave() throws Exception {
    transport.registerFile(file, FILE_BYTES, FilePinMode.READ_ONLY_MAPPING);
    Thread.sleep(1);
  }

  private void allocate() throws Exception {
    try (MemoryRegion region = transport.allocate(100_000)) {
      region.segment().fill((byte) 1);
    }
  }

  private void touchBuffer() {
    ReadBuffer buffer = transport.tryAcquire(LENGTH).orElse(null);
    if (buffer != null) {
      try {
        buffer.segment().fill((byte) 2);
        buffer.asByteBuffer(0, LENGTH).getLong(100);
      } finally {
        buffer.release();
      }
    }
  }

  /** Makes the pool grow and drop slabs. */
  private void takeTheWholePool() throws Exception {
    transport.tryAcquire(10 << 20).ifPresent(ReadBuffer::release);
    transport.tryAcquire(40 << 20).ifPresent(ReadBuffer::release);
    Thread.sleep(1);
  }
}
