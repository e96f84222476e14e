package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.metrics.ShuffleCounters;
import java.util.Collection;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * One request of a reduce task to one executor, and how its blocks travel by Spark's own transfer.
 *
 * @param listener told of each block once
 * @param files where blocks go that are too large for memory; null to keep them in memory
 */
record TcpFetch(
    BlockStoreClient stock,
    ShuffleCounters counters,
    String host,
    int port,
    String executorId,
    BlockFetchingListener listener,
    DownloadFileManager files) {

  /** May block for a connect. Failures go to the listener, as Spark's own do. */
  void fetch(Collection<String> blockIds) {
    String[] ids = blockIds.toArray(String[]::new);
    try {
      stock.fetchBlocks(host, port, executorId, ids, new Counting(), files);
    } catch (Throwable e) {
      // On a thread of ours nobody else would tell the task, which would wait for ever.
      for (String id : ids) {
        listener.onBlockFetchFailure(id, e);
      }
    }
  }

  private final class Counting implements BlockFetchingListener {
    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      counters.blockByTcp(data.size());
      listener.onBlockFetchSuccess(blockId, data);
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable exception) {
      listener.onBlockFetchFailure(blockId, exception);
    }
  }
}
