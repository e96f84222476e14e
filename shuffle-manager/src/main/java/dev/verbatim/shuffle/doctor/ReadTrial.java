package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.EndpointException;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.measure.MeasureConfig;
import dev.verbatim.transport.measure.Measurement;
import dev.verbatim.transport.measure.ReadMeasure;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * READs one peer's memory: small pieces for latency, large ones for bandwidth, compared. By the
 * connections and the pool that blocks take, and with their proof of the application's token, since
 * it is these that must work.
 */
final class ReadTrial {
  /** Of the memory that is read. */
  static final int BYTES = 1 << 20;

  private static final Duration PATIENCE = Duration.ofSeconds(60);

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
    PeerConnection connection = connect(peer);
    ReadBuffer buffer =
        reader
            .tryAcquire(BYTES)
            .orElseThrow(() -> new FailedException("the pool has no buffer of 1 MiB"));
    try {
      buffer.segment().fill((byte) 0);
      ReadMeasure measure = new ReadMeasure(connection, iova, rkey, buffer);
      Measurement small = measure(measure, small(), "a READ of 64 bytes failed");
      Measurement large =
          measure(
              measure,
              large(),
              "READs of 64 bytes arrive, and one of 1 MiB failed: is the MTU of the path less than"
                  + " the port's?");
      compare(buffer.segment());
      return new Figures(small.medianNanos() / 1e3, large.megabytesPerSecond() * 1e6);
    } finally {
      buffer.release();
    }
  }

  private static MeasureConfig small() {
    return new MeasureConfig().bytes(64).warmUp(100).iterations(500).patience(PATIENCE);
  }

  private static MeasureConfig large() {
    return new MeasureConfig()
        .bytes(BYTES)
        .depth(8)
        .warmUp(8)
        .duration(Duration.ofMillis(500))
        .patience(PATIENCE);
  }

  private static Measurement measure(ReadMeasure measure, MeasureConfig config, String failed)
      throws FailedException {
    try {
      return measure.run(config);
    } catch (EndpointException e) {
      throw new FailedException(failed + ": " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FailedException(failed + ": interrupted");
    }
  }

  private PeerConnection connect(PeerAddress peer) throws FailedException {
    String failed = "no connection to " + peer.address();
    try {
      return reader.connect(peer).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new FailedException(failed + ": " + e.getCause().getMessage());
    } catch (TimeoutException e) {
      throw new FailedException(failed + ": no end within " + PATIENCE.toSeconds() + " s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FailedException(failed + ": interrupted");
    }
  }

  private static void compare(MemorySegment memory) throws FailedException {
    for (long at = 0; at < BYTES; at += Long.BYTES) {
      if (memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at) != word(at)) {
        throw new FailedException("a READ brought other bytes than the peer has, at " + at);
      }
    }
  }
}
