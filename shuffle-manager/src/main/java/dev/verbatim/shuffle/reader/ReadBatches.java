package dev.verbatim.shuffle.reader;

import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Batches that are used again and again, so that a READ allocates nothing on the heap: a batch
 * keeps room for as many READs as it ever had. Thread-safe.
 */
public final class ReadBatches {
  /** More are made where more are under way at a time, and left to the collector. */
  private static final int MOST_KEPT = 32;

  private final ArrayBlockingQueue<Reused> free = new ArrayBlockingQueue<>(MOST_KEPT);

  /** Whoever takes a batch is the listener of that use of it. */
  private final class Reused implements ReadListener {
    final ReadBatch batch = new ReadBatch(this);
    ReadListener listener;

    @Override
    public void onSuccess() {
      end().onSuccess();
    }

    @Override
    public void onFailure(ReadFailure cause) {
      end().onFailure(cause);
    }

    /** From here on another thread may have the batch. */
    private ReadListener end() {
      ReadListener told = listener;
      listener = null;
      free.offer(this);
      return told;
    }
  }

  /** An empty batch, to be given to a connection once, or to be cleared and forgotten. */
  ReadBatch take(ReadListener listener) {
    Reused reused = free.poll();
    if (reused == null) {
      reused = new Reused();
    }
    reused.listener = listener;
    return reused.batch;
  }
}
