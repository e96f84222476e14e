package dev.verbatim.transport.measure;

import dev.verbatim.transport.EndpointException;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures READs by a connection of an {@link dev.verbatim.transport.RdmaTransport}, whose peer has
 * proved that it holds the application's token. {@link Measure} does so between endpoints, which
 * anybody may be.
 */
public final class ReadMeasure {
  private final PeerConnection connection;
  private final long iova;
  private final int rkey;
  private final ReadBuffer buffer;

  /**
   * @param connection measured; one that others READ by as well is slower
   * @param iova the peer's address of the first byte
   * @param rkey the peer's key
   * @param buffer where all READs go, from its first byte; the caller's to release, and to compare
   *     with what the peer has
   */
  public ReadMeasure(PeerConnection connection, long iova, int rkey, ReadBuffer buffer) {
    this.connection = connection;
    this.iova = iova;
    this.rkey = rkey;
    this.buffer = buffer;
  }

  /**
   * Warms up and measures. The depth is that of all queue pairs of the connection together.
   *
   * @throws EndpointException when a READ fails, which ends the connection, or none ends within the
   *     configuration's patience
   * @throws IllegalArgumentException when a value is out of its range or names another operation,
   *     or other queue pairs than one
   * @throws IndexOutOfBoundsException when the buffer is too small
   */
  public Measurement run(MeasureConfig config) throws EndpointException, InterruptedException {
    config.conclude();
    if (config.operation() != MeasuredOperation.READ || config.queuePairs() != 1) {
      throw new IllegalArgumentException(
          "operation = %s, queuePairs = %d: READ and 1, since the connection has those that it has"
              .formatted(config.operation(), config.queuePairs()));
    }
    if (config.warmUp() > 0) {
      measure(config, MeasureRun.ofMessages(config.warmUp()));
    }
    MeasureRun run = MeasureRun.of(config);
    measure(config, run);
    return run.result(config);
  }

  private void measure(MeasureConfig config, MeasureRun run)
      throws EndpointException, InterruptedException {
    List<Turn> turns = new ArrayList<>();
    for (int i = 0; i < config.depth(); i++) {
      turns.add(new Turn(run, config.bytes()));
    }
    run.begin(turns.size());
    try {
      for (Turn turn : turns) {
        turn.next(System.nanoTime());
      }
      run.await(config);
    } finally {
      run.stop();
    }
  }

  /** One READ after the other. */
  private final class Turn implements ReadListener {
    private final MeasureRun run;
    private final long bytes;
    private final ReadBatch batch = new ReadBatch(this);
    private long postedNanos;

    Turn(MeasureRun run, long bytes) {
      this.run = run;
      this.bytes = bytes;
    }

    void next(long nowNanos) {
      if (!run.claim(nowNanos)) {
        run.laneEnded();
        return;
      }
      postedNanos = nowNanos;
      batch.add(iova, rkey, buffer, 0, bytes);
      connection.read(batch);
    }

    @Override
    public void onSuccess() {
      long now = System.nanoTime();
      run.record(now - postedNanos, now);
      try {
        next(now);
      } catch (RuntimeException e) { // the buffer was released
        run.failed(e);
      }
    }

    @Override
    public void onFailure(ReadFailure cause) {
      run.failed(new EndpointException(cause.kind() + ": " + cause.detail()));
    }
  }
}
