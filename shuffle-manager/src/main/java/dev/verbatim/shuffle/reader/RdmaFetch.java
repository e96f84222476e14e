package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
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

  /** A block that is there. */
  record Arrived(ShuffleBlock block, ReadBlockBuffer data) {}

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
   * Runs a step on a worker; what it throws ends in TCP, so that no block is ever forgotten.
   *
   * @param some blocks that the step is about
   */
  void step(Collection<ShuffleBlock> some, Runnable action) {
    try {
      context.workers().execute(() -> run(some, action));
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      fallback(some, FallbackReason.READ_FAILED, noThread(e));
    }
  }

  private void run(Collection<ShuffleBlock> some, Runnable action) {
    try {
      action.run();
    } catch (RuntimeException | Error e) {
      try {
        LOG.warn(executorId(), "A fetch from executor " + executorId() + " failed", e);
      } finally { // there may be no memory to say so
        fallback(some, FallbackReason.READ_FAILED, e.toString());
      }
    }
  }

  private static String noThread(Throwable e) {
    return "stopped, or no thread: " + e.getMessage();
  }

  /**
   * A listener that leaves the poller's thread at once.
   *
   * @param some blocks that the batch is about
   * @param failure must release the batch's buffers
   */
  ReadListener listener(
      Collection<ShuffleBlock> some, Runnable success, Consumer<ReadFailure> failure) {
    return new ReadListener() {
      @Override
      public void onSuccess() {
        hop(success);
      }

      @Override
      public void onFailure(ReadFailure cause) {
        hop(() -> failure.accept(cause));
      }

      private void hop(Runnable action) {
        try {
          context.workers().execute(() -> run(some, action));
        } catch (RejectedExecutionException | OutOfMemoryError e) {
          // Here and now: the buffers must be released whatever happens.
          run(some, () -> failure.accept(new ReadFailure(ReadFailure.Kind.OTHER, noThread(e))));
        }
      }
    };
  }

  /** Delivers blocks that arrived by RDMA; takes over the caller's references to the data. */
  void deliver(List<Arrived> complete) {
    for (Arrived arrived : complete) {
      try {
        deliver(arrived.block(), arrived.data());
      } catch (RuntimeException | Error e) {
        fallback(List.of(arrived.block()), FallbackReason.READ_FAILED, e.toString());
      }
    }
  }

  private void deliver(ShuffleBlock block, ReadBlockBuffer data) {
    try {
      // Before: Spark may ask again, while the listener still runs. And what is thrown here leaves
      // the block unsettled.
      delivered.add(block);
      if (settle(block)) {
        // Counted before: the task may end, and report, while the listener still runs.
        context.counters().blockByRdma(data.size());
        boolean taken = tcp.receiver().success(block.id, data);
        if (!taken || !data.wanted()) {
          context.counters().blockByRdmaUnwanted(data.size());
        }
      }
    } finally {
      giveUp(block, data);
    }
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
    if (settle(block)) {
      context.counters().blockByRdma(data.size());
      if (!tcp.receiver().success(block.id, data)) {
        context.counters().blockByRdmaUnwanted(data.size());
      }
    }
  }

  /** Leaves those of the blocks that are not settled yet to TCP. */
  void fallback(Collection<ShuffleBlock> some, FallbackReason reason, String detail) {
    // All that needs memory comes first: who is settled is fetched, whatever is thrown.
    List<String> ids = new ArrayList<>(some.size());
    Runnable fetch = () -> tcp.fetch(ids);
    for (ShuffleBlock block : some) {
      if (settle(block)) {
        ids.add(block.id);
      }
    }
    if (ids.isEmpty()) {
      return;
    }
    try {
      context.counters().fallback(reason, ids.size());
      context.log().note(reason, executorId(), detail);
    } finally {
      onIo(fetch);
    }
  }

  /** Those of the blocks that are not settled yet. */
  synchronized List<ShuffleBlock> open(Collection<ShuffleBlock> some) {
    return some.stream().filter(block -> !block.settled).toList();
  }

  void onIo(Runnable action) {
    try {
      context.io().execute(action);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // Without a thread more: nobody else would fetch these blocks.
      action.run();
    }
  }

  private synchronized boolean settle(ShuffleBlock block) {
    boolean first = !block.settled;
    block.settled = true;
    return first;
  }
}
