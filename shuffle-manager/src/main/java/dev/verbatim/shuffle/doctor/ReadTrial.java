package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * READs one peer's memory: small pieces for latency, large ones for bandwidth, compared. By the
 * connections and the pool that blocks take, and with their proof of the application's token, since
 * it is these that must work; those of {@code transport.measure} take anybody.
 */
final class ReadTrial {
  /** Of the memory that is read. */
  static final int BYTES = 1 << 20;

  private static final int SMALL = 64;
  private static final int SMALL_READS = 200;
  private static final Duration LARGE_TIME = Duration.ofMillis(500);

  /** READs of all bytes that are under way at a time. */
  private static final int LARGE_READS = 8;

  private static final long PATIENCE_SECONDS = 60;

  private final RdmaTransport reader;

  ReadTrial(RdmaTransport reader) {
    this.reader = reader;
  }

  /**
   * What READs have taken.
   *
   * @param micros median of a READ of 64 bytes, from posting to its end
   * @param bytesPerSecond of READs of 1 MiB, several under way
   */
  record Figures(double micros, double bytesPerSecond) {
    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "READ of 64 B %.1f us, of 1 MiB %s/s (%.3g Gb/s)",
          micros,
          Sizes.text(bytesPerSecond),
          bytesPerSecond * 8 / 1e9);
    }
  }

  /** A connection or a READ has failed, or brought other bytes; the message says which. */
  static final class FailedException extends Exception {
    private static final long serialVersionUID = 1;

    FailedException(String message) {
      super(message);
    }
  }

  /** A pattern in which a byte at another place is another one. */
  static void fill(MemorySegment memory) {
    for (long at = 0; at + Long.BYTES <= memory.byteSize(); at += Long.BYTES) {
      memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, word(at));
    }
  }

  private static long word(long at) {
    return at * 0x9e37_79b9_7f4a_7c15L + 1;
  }

  /** READs {@link #BYTES} that {@link #fill} has filled at the peer. */
  Figures run(PeerAddress peer, long iova, int rkey) throws FailedException {
    PeerConnection connection = await(reader.connect(peer), "no connection to " + peer.address());
    ReadBuffer buffer =
        reader
            .tryAcquire(BYTES)
            .orElseThrow(() -> new FailedException("the pool has no buffer of 1 MiB"));
    try {
      double micros = latency(connection, buffer, iova, rkey);
      double rate = bandwidth(connection, buffer, iova, rkey);
      compare(buffer.segment());
      return new Figures(micros, rate);
    } finally {
      buffer.release();
    }
  }

  private static double latency(PeerConnection connection, ReadBuffer buffer, long iova, int rkey)
      throws FailedException {
    long[] nanos = new long[SMALL_READS];
    for (int i = 0; i < SMALL_READS; i++) {
      long begin = System.nanoTime();
      await(post(connection, buffer, iova, rkey, SMALL), "a READ of 64 bytes failed");
      nanos[i] = System.nanoTime() - begin;
    }
    Arrays.sort(nanos);
    return nanos[SMALL_READS / 2] / 1e3;
  }

  private static double bandwidth(PeerConnection connection, ReadBuffer buffer, long iova, int rkey)
      throws FailedException {
    buffer.segment().fill((byte) 0);
    long begin = System.nanoTime();
    long reads = 0;
    CompletableFuture<?>[] underWay = new CompletableFuture<?>[LARGE_READS];
    while (reads == 0 || System.nanoTime() - begin < LARGE_TIME.toNanos()) {
      for (int i = 0; i < LARGE_READS; i++) {
        underWay[i] = post(connection, buffer, iova, rkey, BYTES);
      }
      await(
          CompletableFuture.allOf(underWay),
          "READs of 64 bytes arrive, and one of 1 MiB failed: is the MTU of the path less than the"
              + " port's?");
      reads += LARGE_READS;
    }
    return reads * (double) BYTES / ((System.nanoTime() - begin) / 1e9);
  }

  private static CompletableFuture<Void> post(
      PeerConnection connection, ReadBuffer buffer, long iova, int rkey, int length) {
    CompletableFuture<Void> end = new CompletableFuture<>();
    connection.read(new ReadBatch(new End(end)).add(iova, rkey, buffer, 0, length));
    return end;
  }

  private record End(CompletableFuture<Void> end) implements ReadListener {
    @Override
    public void onSuccess() {
      end.complete(null);
    }

    @Override
    public void onFailure(ReadFailure failure) {
      end.completeExceptionally(new FailedException(failure.toString()));
    }
  }

  private static void compare(MemorySegment memory) throws FailedException {
    for (long at = 0; at < BYTES; at += Long.BYTES) {
      if (memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at) != word(at)) {
        throw new FailedException("a READ brought other bytes than the peer has, at " + at);
      }
    }
  }

  private static <T> T await(CompletableFuture<T> future, String failed) throws FailedException {
    try {
      return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new FailedException(failed + ": " + e.getCause().getMessage());
    } catch (TimeoutException e) {
      throw new FailedException(failed + ": no end within " + PATIENCE_SECONDS + " s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FailedException(failed + ": interrupted");
    }
  }
}
