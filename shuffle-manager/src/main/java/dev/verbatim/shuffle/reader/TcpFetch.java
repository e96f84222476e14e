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
    String[] ids = blockIds.toArray(String[]::new);
    Once once = new Once();
    try {
      stock.fetchBlocks(host, port, executorId, ids, once, files);
    } catch (Throwable e) {
      // On a thread of ours nobody else would tell the task, which would wait for ever.
      for (String id : ids) {
        once.onBlockFetchFailure(id, e);
      }
    }
  }

  /** Lets the first end of each block through: the stock client may throw when some have ended. */
  private final class Once implements BlockFetchingListener {
    private final Set<String> ended = ConcurrentHashMap.newKeySet();

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      if (ended.add(blockId)) {
        counters.blockByTcp(data.size());
        receiver.success(blockId, data);
      }
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable exception) {
      if (ended.add(blockId)) {
        receiver.failure(blockId, exception);
      }
    }
  }
}
