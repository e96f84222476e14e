package dev.verbatim.bench;

import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import dev.verbatim.transport.TransportConfig;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Measures READs through the transport's public API, as ib_read_bw and ib_read_lat of perftest
 * measure them through verbs. Each READ has a completion of its own, as those of perftest have.
 *
 * <pre>
 * ReadLoop server ADDRESS PORT            serves memory until it is killed; PORT is for control
 * ReadLoop client ADDRESS PORT SECONDS    measures for SECONDS what each line of its input names:
 *   bw SIZE DEPTH QPS    READs of SIZE bytes, DEPTH at a time on each of QPS queue pairs: MB/s
 *   lat SIZE 1 1         READs one after the other: microseconds, median
 * </pre>
 *
 * A client prints one number for each line, when it has warmed up as long as it measures. Before
 * the first line it READs for {@value #WARM_UP_SECONDS} seconds and prints "ready": an emulated
 * processor takes that long to compile. MB are 10^6 bytes. The poller spins, as perftest does,
 * unless {@code -Dspin=NANOSECONDS} says how long it does before it blocks.
 */
public final class ReadLoop {
  private static final long SERVED = 4L << 20;
  private static final byte[] TOKEN = {42};
  private static final int WARM_UP_SECONDS = 40;

  private ReadLoop() {}

  public static void main(String[] args) throws Exception {
    InetAddress address = InetAddress.getByName(args[1]);
    int port = Integer.parseInt(args[2]);
    if (args[0].equals("server")) {
      serve(address, port);
      return;
    }
    Duration time = Duration.ofSeconds(Integer.parseInt(args[3]));
    Target target = askTarget(address, port);
    Duration warmUp = Duration.ofSeconds(WARM_UP_SECONDS).dividedBy(2);
    measure(address, target, "lat 8 1 1", warmUp);
    measure(address, target, "bw 4096 16 1", warmUp);
    System.out.println("ready");
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      System.out.printf("%.2f%n", measure(address, target, line, time));
    }
  }

  private static double measure(InetAddress address, Target target, String line, Duration time)
      throws Exception {
    String[] words = line.split(" ");
    int size = Integer.parseInt(words[1]);
    int depth = Integer.parseInt(words[2]);
    int qps = Integer.parseInt(words[3]);
    try (RdmaTransport transport = open("client", address, qps)) {
      PeerConnection connection = transport.connect(target.peer).get(30, TimeUnit.SECONDS);
      Loop loop = new Loop(transport, connection, target, size, depth * qps);
      loop.run(time);
      Histogram times = loop.run(time);
      return words[0].equals("bw")
          ? loop.bytesPerNano() * 1000
          : times.getValueAtPercentile(50) / 1000.0;
    }
  }

  private static RdmaTransport open(String name, InetAddress address, int qps) throws IOException {
    TransportConfig config =
        new TransportConfig()
            .localName(name)
            .applicationToken(TOKEN)
            .qpsPerPeer(qps)
            .connectTimeout(Duration.ofSeconds(20))
            .readTimeout(Duration.ofSeconds(60))
            .poolBytes(256L << 20);
    if (name.equals("server")) {
      config.address(address);
    } else {
      config.spin(Duration.ofNanos(Long.getLong("spin", 1_000_000_000)));
    }
    return switch (RdmaTransport.open(config)) {
      case OpenResult.Opened opened -> opened.transport();
      case OpenResult.Unavailable none -> throw new IOException(none.toString());
    };
  }

  private record Target(PeerAddress peer, long iova, int rkey) {}

  private static void serve(InetAddress address, int port) throws Exception {
    try (RdmaTransport transport = open("server", address, 1);
        MemoryRegion region = transport.allocate(SERVED);
        ServerSocket listener = new ServerSocket(port, 16, address)) {
      while (true) {
        try (Socket client = listener.accept();
            PrintStream out = new PrintStream(client.getOutputStream(), true)) {
          PeerAddress self = transport.self();
          InetSocketAddress own = self.address();
          out.printf(
              "%s %d %d %d %d%n",
              own.getAddress().getHostAddress(),
              own.getPort(),
              self.challenge(),
              region.iova(),
              region.rkey());
        }
      }
    }
  }

  private static Target askTarget(InetAddress address, int port) throws IOException {
    try (Socket server = new Socket(address, port);
        BufferedReader in =
            new BufferedReader(
                new InputStreamReader(server.getInputStream(), StandardCharsets.US_ASCII))) {
      String[] words = in.readLine().split(" ");
      InetSocketAddress peer = new InetSocketAddress(words[0], Integer.parseInt(words[1]));
      return new Target(
          new PeerAddress("server", peer, Long.parseLong(words[2])),
          Long.parseLong(words[3]),
          Integer.parseInt(words[4]));
    }
  }

  /**
   * Keeps READs under way; a listener posts the next when one has ended. Like perftest's, READs of
   * large sizes land where others do, so that many queue pairs need no more memory than one.
   */
  private static final class Loop {
    private static final long MOST_BYTES = 64 << 20;

    private final PeerConnection connection;
    private final Target target;
    private final int size;
    private final int depth;
    private final int places;
    private final ReadBuffer buffer;

    // Guarded by this.
    private Histogram times;
    private CountDownLatch done;
    private long endNanos;
    private long bytes;
    private long lastNanos;
    private ReadFailure failure;
    private double bytesPerNano;

    Loop(RdmaTransport transport, PeerConnection connection, Target target, int size, int depth) {
      this.connection = connection;
      this.target = target;
      this.size = size;
      this.depth = depth;
      this.places = (int) Math.min(depth, MOST_BYTES / size);
      this.buffer = transport.tryAcquire((long) size * places).orElseThrow();
    }

    /** READs for so long and answers the time of each READ, nanoseconds. */
    Histogram run(Duration time) throws Exception {
      long start = System.nanoTime();
      synchronized (this) {
        done = new CountDownLatch(depth);
        times = new Histogram(3);
        bytes = 0;
        endNanos = start + time.toNanos();
      }
      for (int number = 0; number < depth; number++) {
        new Turn((long) size * (number % places)).post();
      }
      boolean ended = done.await(time.toMillis() + 120_000, TimeUnit.MILLISECONDS);
      synchronized (this) {
        if (!ended || failure != null) {
          throw new IOException("READs failed: " + failure);
        }
        bytesPerNano = (double) bytes / (lastNanos - start);
        return times;
      }
    }

    double bytesPerNano() {
      return bytesPerNano;
    }

    /** One READ, posted again and again. */
    private final class Turn implements ReadListener {
      private final long place;
      private final ReadBatch batch = new ReadBatch(this);
      private long startNanos;

      Turn(long place) {
        this.place = place;
      }

      void post() {
        startNanos = System.nanoTime();
        batch.add(target.iova, target.rkey, buffer, place, size);
        connection.read(batch);
      }

      @Override
      public void onSuccess() {
        if (goesOn(startNanos)) {
          post();
        }
      }

      @Override
      public void onFailure(ReadFailure cause) {
        failed(cause);
      }
    }

    private synchronized boolean goesOn(long startNanos) {
      lastNanos = System.nanoTime();
      times.recordValue(lastNanos - startNanos);
      bytes += size;
      if (lastNanos - endNanos >= 0) {
        done.countDown();
        return false;
      }
      return true;
    }

    private synchronized void failed(ReadFailure cause) {
      failure = cause;
      done.countDown();
    }
  }
}
