package dev.verbatim.bench;

import com.sun.management.ThreadMXBean;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.QueuePairs;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import dev.verbatim.transport.TransportConfig;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What one READ costs the thread that posts and polls, from the filling of its batch to the
 * listener's call, which posts the next. Both ends of the connection are in this process, and the
 * device must complete work requests as they are posted. {@link ReadCostComparison} runs it beside
 * its counterpart in C, {@code bench/read_cost.c}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ReadCost {
  /** READs of one invocation. */
  static final int READS = 1 << 16;

  /**
   * READs that the transport's send queue takes where a device has room for the default of {@code
   * maxConnections}. The counterpart's is as deep, and signals as often.
   */
  static final int SEND_QUEUE_DEPTH = 64;

  /** An established connection, and the loop on it. */
  @State(Scope.Benchmark)
  public static class Link implements ReadListener {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Bytes of a READ. */
    @Param({"8", "4096", "65536"})
    public int size;

    /** READs that are posted together. */
    @Param({"1", "16", "64"})
    public int batch;

    private final Semaphore over = new Semaphore(0);
    private RdmaTransport server;
    private RdmaTransport client;
    private MemoryRegion region;
    private PeerConnection connection;
    private ReadBuffer buffer;
    private ReadBatch reads;
    private int left;
    private long startNanos;
    private long startBytes;
    private long cpuNanos;
    private long heapBytes;
    private ReadFailure failure;

    @Setup(Level.Trial)
    public void connect() throws Exception {
      server = open("server");
      client = open("client");
      region = server.allocate((long) size * batch);
      buffer = client.tryAcquire((long) size * batch).orElseThrow();
      reads = new ReadBatch(this);
      connection = client.connect(server.self()).get(10, TimeUnit.SECONDS);
      int depth = QueuePairs.of(connection).getFirst().sendQueueDepth();
      if (depth != SEND_QUEUE_DEPTH) {
        throw new IllegalStateException(
            "the send queue is %d deep and the counterpart's %d"
                .formatted(depth, SEND_QUEUE_DEPTH));
      }
    }

    private static RdmaTransport open(String name) throws IOException {
      TransportConfig config =
          new TransportConfig()
              .localName(name)
              .applicationToken(new byte[] {42})
              .poolBytes(16 << 20);
      if (name.equals("client")) {
        config.spin(Duration.ofSeconds(1));
      }
      return switch (RdmaTransport.open(config)) {
        case OpenResult.Opened opened -> opened.transport();
        case OpenResult.Unavailable none -> throw new IOException(none.toString());
      };
    }

    @TearDown(Level.Trial)
    public void close() {
      buffer.release();
      client.close();
      region.close();
      server.close();
    }

    /** READs until so many are done, the first batch apart. */
    void run(int reads) throws InterruptedException {
      left = reads + batch;
      startNanos = 0;
      post();
      over.acquire();
      if (failure != null) {
        throw new IllegalStateException(failure.toString());
      }
    }

    private void post() {
      for (int i = 0; i < batch; i++) {
        long offset = (long) size * i;
        reads.add(region.iova() + offset, region.rkey(), buffer, offset, size);
      }
      connection.read(reads);
    }

    @Override
    public void onSuccess() {
      if (startNanos == 0) {
        startBytes = THREADS.getCurrentThreadAllocatedBytes();
        startNanos = THREADS.getCurrentThreadCpuTime();
      }
      left -= batch;
      if (left > 0) {
        post();
      } else {
        cpuNanos = THREADS.getCurrentThreadCpuTime() - startNanos;
        heapBytes = THREADS.getCurrentThreadAllocatedBytes() - startBytes;
        over.release();
      }
    }

    @Override
    public void onFailure(ReadFailure cause) {
      failure = cause;
      over.release();
    }
  }

  /** What the poller's thread used: others, on the machine and in the JVM, do not add to it. */
  @AuxCounters(AuxCounters.Type.EVENTS)
  @State(Scope.Thread)
  public static class Used {
    public long cpuNanos;
    public long heapBytes;
    public long reads;
  }

  @Benchmark
  @OperationsPerInvocation(READS)
  public void read(Link link, Used used) throws InterruptedException {
    link.run(READS);
    used.cpuNanos += link.cpuNanos;
    used.heapBytes += link.heapBytes;
    used.reads += READS;
  }
}
