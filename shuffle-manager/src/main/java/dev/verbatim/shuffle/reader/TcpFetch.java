package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.metrics.ShuffleCounters;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * One request of a reduce task to one executor, and how its blocks travel by Spark's own transfer.
 *
 * @param receiver told of each block once
 * @param files where blocks go that are too large for memory; null to keep them in memory
 */
record TcpFetch(
    BlockStoreClient stock,
    ShuffleCounters counters,
    String host,
    int port,
    String executorId,
    BlockReceiver receiver,
    DownloadFileManager files) {

  /** May block for a connect. Failures go to the receiver, as Spark's own do. */
  void fetch(Collection<String> blockIds) {
    Once once = null;
    try {
      String[] ids = blockIds.toArray(String[]::new);
      once = new Once();
      stock.fetchBlocks(host, port, executorId, ids, once, files);
    } catch (Throwable e) {
      // On a thread of ours nobody else would tell the task, which would wait for ever.
      for (String id : blockIds) {
        if (once == null) {
          receiver.failure(id, e);
        } else {
          once.onBlockFetchFailure(id, e);
        }
      }
    }
  }

  /** Lets the first end of each block through: the stock client may throw when some have ended. */
  private final class Once implements BlockFetchingListener {
    private final Set<String> ended = ConcurrentHashMap.newKeySet();

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      if (isFirst(blockId)) {
        try {
          counters.blockByTcp(data.size());
        } finally { // whatever is thrown, the task waits for it
          receiver.success(blockId, data);
        }
      }
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable exception) {
      if (isFirst(blockId)) {
        receiver.failure(blockId, exception);
      }
    }

    /** Rather twice than never, where there is no memory to note it. */
    private boolean isFirst(String blockId) {
      try {
        return ended.add(blockId);
      } catch (OutOfMemoryError e) {
        return true;
      }
    }
  }
}
