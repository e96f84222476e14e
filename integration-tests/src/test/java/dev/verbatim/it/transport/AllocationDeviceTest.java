package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.sun.management.ThreadMXBean;
import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A READ costs no object: what the collector does not see it cannot pause for. */
class AllocationDeviceTest extends DeviceTest {
  private static final int LENGTH = 100;
  private static final int BATCHES_PER_ROUND = 5_000;

  /** A batch that is given again by its own listener, on the poller's thread. */
  private static final class Loop implements ReadListener {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final PeerConnection connection;
    private final MemoryRegion region;
    private final ReadBuffer buffer;
    private final int reads;
    private final Semaphore over = new Semaphore(0);
    private ReadBatch batch;
    private int left;
    private long before;
    private long allocated;
    private ReadFailure failure;

    Loop(PeerConnection connection, MemoryRegion region, ReadBuffer buffer, int reads) {
      this.connection = connection;
      this.region = region;
      this.buffer = buffer;
      this.reads = reads;
    }

    /** Bytes that the poller's thread allocates while it posts and ends a round of batches. */
    long round() throws InterruptedException {
      left = BATCHES_PER_ROUND;
      batch = new ReadBatch(this);
      post();
      over.tryAcquire(Transports.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertNull(failure);
      return allocated;
    }

    private void post() {
      for (int i = 0; i < reads; i++) {
        batch.add(region.iova(), region.rkey(), buffer, (long) i * LENGTH, LENGTH);
      }
      connection.read(batch);
    }

    @Override
    public void onSuccess() {
      if (left == BATCHES_PER_ROUND) {
        before = THREADS.getCurrentThreadAllocatedBytes();
      }
      if (--left > 0) {
        post();
      } else {
        allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        over.release();
      }
    }

    @Override
    public void onFailure(ReadFailure cause) {
      failure = cause;
      over.release();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 100})
  void shouldNotAllocateWhenABatchIsUsedAgain(int reads) throws Exception {
    StandInFaults.assumePresent(); // elsewhere these would take long
    StandInFaults.set("model instant");
    RdmaTransport server = open("server");
    // Blocking for want of completions allocates, and so does what a JIT has not compiled yet.
    RdmaTransport reader = open(Transports.config("reader").spin(Duration.ofSeconds(1)));
    MemoryRegion region = patternRegion(server, LENGTH);
    PeerConnection connection = Transports.connect(reader, Transports.address("server", server));
    ReadBuffer buffer = reader.tryAcquire((long) reads * LENGTH).orElseThrow();
    Loop loop = new Loop(connection, region, buffer, reads);
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 40 && least > 0; round++) {
      least = Math.min(least, loop.round());
    }
    buffer.release();
    assertEquals(0, least, "bytes in the best of the rounds");
  }
}
