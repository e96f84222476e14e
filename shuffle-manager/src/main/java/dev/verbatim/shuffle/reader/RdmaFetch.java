package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.slf4j.LoggerFactory;

/**
 * One request of a reduce task to one executor. A block that does not arrive by RDMA is handed to
 * Spark's own transfer, once; every block is settled exactly once.
 */
final class RdmaFetch {
  private static final ThrottledLog LOG =
      new ThrottledLog(LoggerFactory.getLogger(RdmaFetch.class));

  private static final ReadFailure NO_THREAD =
      new ReadFailure(ReadFailure.Kind.OTHER, "no thread, and no memory to say why");

  private final FetchContext context;
  private final TcpFetch tcp;
  private final List<ShuffleBlock> blocks;
  private final DeliveredBlocks delivered;
  private final int indexBytes;

  /**
   * @param blocks all of one shuffle
   * @param delivered told of the blocks that arrive by RDMA
   * @param indexBytes of the index of each map output of the shuffle
   */
  RdmaFetch(
      FetchContext context,
      TcpFetch tcp,
      List<ShuffleBlock> blocks,
      DeliveredBlocks delivered,
      int indexBytes) {
    this.context = context;
    this.tcp = tcp;
    this.blocks = blocks;
    this.delivered = delivered;
    this.indexBytes = indexBytes;
  }

  void start() {
    new FetchAttempt(this, context, blocks, 1).start();
  }

  String executorId() {
    return tcp.executorId();
  }

  int indexBytes() {
    return indexBytes;
  }

  /** Where blocks go that are too large for memory; null to keep them in memory. */
  DownloadFileManager files() {
    return tcp.files();
  }

  /**
   * What takes the end of a future and goes on with it on a worker. What is thrown ends in TCP, so
   * that no block is ever forgotten. To be made before the future is: its end may find no memory.
   *
   * @param some blocks that the step is about
   */
  <T> BiConsumer<T, Throwable> step(
      Collection<ShuffleBlock> some, BiConsumer<T, Throwable> action) {
    return (value, error) -> {
      try {
        context.workers().execute(() -> run(some, () -> action.accept(value, error)));
      } catch (RuntimeException | Error e) {
        fallback(some, FallbackReason.READ_FAILED, e);
      }
    };
  }

  private void run(Collection<ShuffleBlock> some, Runnable action) {
    try {
      action.run();
    } catch (RuntimeException | Error e) {
      leave(some, e);
    }
  }

  private void leave(Collection<ShuffleBlock> some, Throwable e) {
    try {
      LOG.warn(executorId(), "A fetch from executor " + executorId() + " failed", e);
    } finally { // there may be no memory to say so
      fallback(some, FallbackReason.READ_FAILED, e);
    }
  }

  /**
   * A listener that leaves the poller's thread at once.
   *
   * @param some blocks that the batch is about
   * @param failure must release the batch's buffers
   */
  ReadListener listener(
      Collection<ShuffleBlock> some, Runnable success, Consumer<ReadFailure> failure) {
    return new BatchEnd(some, success, failure);
  }

  private final class BatchEnd implements ReadListener {
    private final Collection<ShuffleBlock> some;
    private final Runnable success;
    private final Consumer<ReadFailure> failure;
    private final HandOver handOver = new HandOver(this::goOn, this::refused);
    private ReadFailure cause;

    BatchEnd(Collection<ShuffleBlock> some, Runnable success, Consumer<ReadFailure> failure) {
      this.some = some;
      this.success = success;
      this.failure = failure;
    }

    @Override
    public void onSuccess() {
      handOver.to(context.workers());
    }

    @Override
    public void onFailure(ReadFailure cause) {
      this.cause = cause;
      handOver.to(context.workers());
    }

    /** Here and now: the buffers must be released whatever happens. */
    private void refused(Throwable thrown) {
      cause = noThread(thrown);
      goOn();
    }

    private void goOn() {
      try {
        if (cause == null) {
          success.run();
        } else {
          failure.accept(cause);
        }
      } catch (RuntimeException | Error e) {
        leave(some, e);
      }
    }
  }

  private static ReadFailure noThread(Throwable thrown) {
    try {
      return new ReadFailure(
          ReadFailure.Kind.OTHER, "stopped, or no thread: " + thrown.getMessage());
    } catch (OutOfMemoryError e) {
      return NO_THREAD;
    }
  }

  /** Delivers a block that arrived by RDMA; takes over the caller's reference to the data. */
  void deliver(ShuffleBlock block, ReadBlockBuffer data) {
    try {
      // Before: Spark may ask again, while the listener still runs. And what is thrown here leaves
      // the block unsettled.
      delivered.add(block);
      if (settle(block)) {
        boolean taken = tell(block, data);
        if (!taken || !data.wanted()) {
          context.counters().blockByRdmaUnwanted(data.size());
        }
      }
    } finally {
      giveUp(block, data);
    }
  }

  /** Whatever counting throws, the receiver of a settled block hears of it: nobody else would. */
  private boolean tell(ShuffleBlock block, ManagedBuffer data) {
    boolean taken;
    try {
      // Before: the task may end, and report, while the listener still runs.
      context.counters().blockByRdma(data.size());
    } finally {
      taken = tcp.receiver().success(block.id, data);
    }
    return taken;
  }

  /** A receiver that releases too often has spoilt its own block; the others go on. */
  private void giveUp(ShuffleBlock block, ReadBlockBuffer data) {
    try {
      data.release();
    } catch (IllegalStateException e) {
      LOG.warn(executorId(), "Block " + block + " was released by its receiver too often", e);
    }
  }

  /** Delivers a block that arrived by RDMA and lies in a file. */
  void deliverFile(ShuffleBlock block, ManagedBuffer data) {
    delivered.add(block);
    if (settle(block) && !tell(block, data)) {
      context.counters().blockByRdmaUnwanted(data.size());
    }
  }

  /**
   * Leaves those of the blocks that are not settled yet to TCP.
   *
   * @param detail what was seen: a text, or what was thrown
   */
  void fallback(Collection<ShuffleBlock> some, FallbackReason reason, Object detail) {
    List<String> ids;
    HandOver fetch;
    try { // all that needs memory comes first: who is settled is fetched, whatever is thrown
      ids = new ArrayList<>(some.size());
      fetch = onIo(fetchOf(ids));
      for (ShuffleBlock block : some) {
        if (settle(block)) {
          ids.add(block.id);
        }
      }
    } catch (RuntimeException | Error e) {
      refuse(some, e);
      return;
    }
    if (ids.isEmpty()) {
      return;
    }
    try {
      context.counters().fallback(reason, ids.size());
      context.log().note(reason, executorId(), String.valueOf(detail));
    } finally {
      fetch.to(context.io());
    }
  }

  private Runnable fetchOf(List<String> ids) {
    return () -> tcp.fetch(ids);
  }

  /** Without memory for TCP either: the task hears so, or it would wait for ever. */
  private void refuse(Collection<ShuffleBlock> some, Throwable cause) {
    for (ShuffleBlock block : some) {
      if (settle(block)) {
        tcp.receiver().failure(block.id, cause);
      }
    }
  }

  /** Those of the blocks that are not settled yet. */
  synchronized List<ShuffleBlock> open(Collection<ShuffleBlock> some) {
    return some.stream().filter(block -> !block.settled).toList();
  }

  /** Runs what may block on a thread of its own, or without one here: nobody else would. */
  void runOnIo(Runnable action) {
    onIo(action).to(context.io());
  }

  private static HandOver onIo(Runnable action) {
    return new HandOver(action, thrown -> action.run());
  }

  private synchronized boolean settle(ShuffleBlock block) {
    boolean first = !block.settled;
    block.settled = true;
    return first;
  }
}
