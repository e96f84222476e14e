package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.machine.Iwarp;
import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.TransportCounters;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** READs between two transports of this process, through the device. */
class ReadDeviceTest extends DeviceTest {
  private static final long REGION = 4 << 20;
  private static final long SPLIT = 256 << 10;

  private RdmaTransport reader;
  private RdmaTransport server;
  private PeerConnection connection;

  @BeforeEach
  void connect() throws Exception {
    server = open("server");
    reader = open(Transports.config("reader").maxReadBytes(SPLIT));
    connection = Transports.connect(reader, Transports.address("server", server));
  }

  private MemoryRegion patternRegion() throws Exception {
    return patternRegion(server, REGION);
  }

  private void assertReads(MemoryRegion region, long from, long length) throws Exception {
    assertReads(reader, connection, region, from, length);
  }

  private ReadFailure readFails(long iova, int rkey, long length) throws Exception {
    ReadBuffer buffer = reader.tryAcquire(length).orElseThrow();
    Outcome outcome = new Outcome();
    connection.read(new ReadBatch(outcome).add(iova, rkey, buffer, 0, length));
    ReadFailure failure = outcome.assertFailed(REFUSED);
    buffer.release();
    return failure;
  }

  /** From one byte to several times the longest READ, around pages and packets. */
  @ParameterizedTest
  @ValueSource(
      longs = {
        1,
        2,
        7,
        8,
        63,
        64,
        1023,
        1024,
        4095,
        4096,
        4097,
        9000,
        65_535,
        65_536,
        65_537,
        SPLIT - 1,
        SPLIT,
        SPLIT + 1,
        3 * SPLIT + 5,
        4_000_000
      })
  void shouldReadAnyLengthFromASlab(long length) throws Exception {
    MemoryRegion region = patternRegion();
    assertReads(region, 0, length);
    assertReads(region, 13, length);
    assertReads(region, REGION - length, length);
    long reads = 3 * ((length + SPLIT - 1) / SPLIT);
    assertEquals(reads, reader.counters().readsCompleted());
    assertEquals(3 * length, reader.counters().readBytes());
  }

  @Test
  void shouldReadAMappedFileAfterItWasUnlinked(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("shuffle.data");
    long length = 1_000_003;
    Pattern.write(file, length);
    FilePinMode mode = server.probe(directory);
    assertNotEquals(FilePinMode.COPY, mode);
    List<MemoryRegion> regions = server.registerFile(file, length, mode);
    assertEquals(1, regions.size());
    assertEquals(length, regions.getFirst().length());
    Files.delete(file);
    assertReads(regions.getFirst(), 0, length);
    assertReads(regions.getFirst(), length - 1, 1);
    regions.getFirst().close();
    assertEquals(1, server.counters().memoryRegions(), "the pool's slab alone is left");
  }

  /** A page that is pinned stays when the file loses it; the process must not get SIGBUS. */
  @Test
  void shouldReadWhatWasThereWhenAMappedFileIsTruncated(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("shuffle.data");
    long length = 1_000_003;
    Pattern.write(file, length);
    MemoryRegion region = server.registerFile(file, length, server.probe(directory)).getFirst();
    FileChannel.open(file, StandardOpenOption.WRITE).truncate(0).close();

    if (StandInFaults.present()) { // which copies from the mapping
      readFails(region.iova(), region.rkey(), 100);
      connection = Transports.connectEventually(reader, Transports.address("server", server));
    } else {
      assertReads(region, 0, length);
      Files.delete(file);
      assertReads(region, length - 4096, 4096);
    }
    assertReads(patternRegion(), 0, 4096);
  }

  @Test
  void shouldReadManyPiecesInOneBatchDeeperThanTheSendQueue() throws Exception {
    MemoryRegion region = patternRegion();
    int reads = 1000;
    int length = 96;
    ReadBuffer buffer = reader.tryAcquire((long) reads * length).orElseThrow();
    Outcome outcome = new Outcome();
    ReadBatch batch = new ReadBatch(outcome);
    for (int i = 0; i < reads; i++) {
      batch.add(
          region.iova() + (reads - 1 - i) * 1000L,
          region.rkey(),
          buffer,
          (long) i * length,
          length);
    }
    connection.read(batch);
    outcome.assertSucceeded();
    for (int i = 0; i < reads; i++) {
      MemorySegment piece = buffer.segment().asSlice((long) i * length, length);
      Pattern.assertEqualTo(piece, (reads - 1 - i) * 1000L);
    }
    assertEquals(reads, reader.counters().readsCompleted());
    buffer.release();
  }

  @Test
  void shouldAllowAReadFromAListener() throws Exception {
    MemoryRegion region = patternRegion();
    ReadBuffer index = reader.tryAcquire(16).orElseThrow();
    ReadBuffer data = reader.tryAcquire(10_000).orElseThrow();
    Outcome second = new Outcome();
    Outcome first =
        new Outcome() {
          @Override
          public void onSuccess() {
            connection.read(
                new ReadBatch(second)
                    .add(region.iova() + 500, region.rkey(), data, 0, data.length()));
            super.onSuccess();
          }
        };
    connection.read(new ReadBatch(first).add(region.iova(), region.rkey(), index, 0, 16));
    first.assertSucceeded();
    second.assertSucceeded();
    Pattern.assertEqualTo(data.segment(), 500);
    index.release();
    data.release();
  }

  @Test
  void shouldServeReadersOfManyThreads() throws Exception {
    MemoryRegion region = patternRegion();
    int threads = 8;
    int rounds = 100;
    CountDownLatch done = new CountDownLatch(threads);
    List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
    for (int t = 0; t < threads; t++) {
      int seed = t;
      Thread.ofPlatform()
          .start(
              () -> {
                try {
                  for (int i = 0; i < rounds; i++) {
                    long from = (seed * 7919L + i * 104_729L) % (REGION - 20_000);
                    assertReads(region, from, 1 + (seed * 31 + i * 997) % 20_000);
                  }
                } catch (Throwable e) {
                  failures.add(e);
                } finally {
                  done.countDown();
                }
              });
    }
    assertTrue(done.await(Transports.PATIENCE.toSeconds(), TimeUnit.SECONDS));
    assertEquals(List.of(), failures);
  }

  @Test
  void shouldRefuseAccessWhenTheRegionIsDeregistered() throws Exception {
    MemoryRegion region = patternRegion();
    assertReads(region, 0, 100);
    region.close();
    readFails(region.iova(), region.rkey(), 100);
    assertFalse(connection.isOpen());
  }

  @Test
  void shouldRefuseAStaleKeyWhenTheMemoryIsRegisteredAnew() throws Exception {
    MemoryRegion old = patternRegion();
    old.close();
    MemoryRegion fresh = patternRegion();
    readFails(old.iova(), old.rkey(), 100);
    connection = Transports.connectEventually(reader, Transports.address("server", server));
    assertReads(fresh, 0, 100);
  }

  @ParameterizedTest
  @ValueSource(strings = {"before", "across the end", "behind", "virtual address", "wrong key"})
  void shouldRefuseAccessOutsideTheRegion(String where) throws Exception {
    if (where.equals("virtual address")) {
      Iwarp.assumeAbsent("siw knows no other address of a region");
    }
    MemoryRegion region = patternRegion();
    switch (where) {
      case "before" -> readFails(region.iova() - 1, region.rkey(), 1);
      case "across the end" -> readFails(region.iova() + REGION - 99, region.rkey(), 100);
      case "behind" -> readFails(region.iova() + REGION, region.rkey(), 1);
      case "virtual address" -> readFails(region.segment().address(), region.rkey(), 1);
      default -> readFails(region.iova(), region.rkey() ^ 0x0100, 1);
    }
    // The connection is gone, the next one works.
    connection = Transports.connectEventually(reader, Transports.address("server", server));
    assertReads(region, 0, 4096);
    TransportCounters counters = reader.counters();
    if (!Iwarp.present()) {
      assertEquals(1, counters.readFailures().get("REM_ACCESS_ERR"), counters.toString());
    }
  }

  @Test
  void shouldFailOtherBatchesOfAConnectionThatBrokeAndTellEachOnce() throws Exception {
    Iwarp.assumeAbsent("a refused READ takes earlier ones with it");
    MemoryRegion region = patternRegion();
    ReadBuffer buffer = reader.tryAcquire(2 << 20).orElseThrow();
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Outcome outcome = new Outcome();
      outcomes.add(outcome);
      int rkey = i == 10 ? region.rkey() ^ 0x0100 : region.rkey();
      connection.read(
          new ReadBatch(outcome).add(region.iova(), rkey, buffer, 100_000L * i, 100_000));
    }
    outcomes.get(10).assertFailed(ReadFailure.Kind.REMOTE_ACCESS);
    for (int i = 0; i < 10; i++) {
      outcomes.get(i).assertSucceeded();
    }
    for (int i = 11; i < 20; i++) {
      outcomes.get(i).assertFailed(ReadFailure.Kind.DISCONNECTED);
    }
    Outcome late = new Outcome();
    connection.read(new ReadBatch(late).add(region.iova(), region.rkey(), buffer, 0, 1));
    late.assertFailed(ReadFailure.Kind.DISCONNECTED);
    buffer.release();
    Transports.await("buffers are given back", () -> reader.counters().poolUsedBytes() == 0);
  }
}
