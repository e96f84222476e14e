package dev.verbatim.shuffle.reader;

import com.codahale.metrics.MetricSet;
import dev.verbatim.shuffle.fallback.FallbackReason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockPushingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.MergeFinalizerListener;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;

/**
 * The client that one reduce task's fetcher uses: shuffle blocks go by RDMA READ where that can be,
 * all else is forwarded to Spark's own client.
 */
public final class RdmaBlockStoreClient extends BlockStoreClient {
  private final FetchContext context;
  private final BlockStoreClient stock;
  private final DeliveredBlocks delivered = new DeliveredBlocks();
  private final int indexBytes;

  /**
   * @param partitions of the shuffle that the task reads, from 1
   */
  public RdmaBlockStoreClient(FetchContext context, int partitions) {
    this.context = context;
    this.indexBytes = (int) Math.min(Integer.MAX_VALUE, Long.BYTES * (partitions + 1L));
    this.stock = context.stock();
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager downloadFileManager) {
    TcpFetch tcp =
        new TcpFetch(
            stock,
            context.counters(),
            host,
            port,
            executorId,
            new BlockReceiver(listener, executorId),
            downloadFileManager);
    if (!context.transport().portActive()) {
      String seen = context.transport().deviceFailure().orElse("own port");
      note(context.ownPortReason(), blockIds.length, executorId, seen);
      tcp.fetch(Arrays.asList(blockIds));
      return;
    }
    List<String> others = new ArrayList<>();
    List<String> again = new ArrayList<>();
    Map<Integer, List<ShuffleBlock>> byShuffle = new LinkedHashMap<>();
    for (String id : blockIds) {
      Optional<ShuffleBlock> parsed = ShuffleBlock.parse(id);
      if (parsed.isEmpty()) {
        others.add(id);
      } else if (delivered.contains(parsed.get())) {
        again.add(id);
        context.indexes().drop(parsed.get()); // its place may be what is wrong
      } else {
        byShuffle
            .computeIfAbsent(parsed.get().shuffleId, key -> new ArrayList<>())
            .add(parsed.get());
      }
    }
    byShuffle
        .values()
        .forEach(blocks -> new RdmaFetch(context, tcp, blocks, delivered, indexBytes).start());
    if (!again.isEmpty()) {
      note(
          FallbackReason.BLOCK_CORRUPT,
          again.size(),
          executorId,
          "for example " + again.getFirst());
      others.addAll(again);
    }
    if (!others.isEmpty()) {
      tcp.fetch(others);
    }
  }

  private void note(FallbackReason reason, int blocks, String executorId, String detail) {
    context.counters().fallback(reason, blocks);
    context.log().note(reason, executorId, detail);
  }

  @Override
  public Cause diagnoseCorruption(
      String host,
      int port,
      String executorId,
      int shuffleId,
      long mapId,
      int reduceId,
      long checksum,
      String algorithm) {
    return stock.diagnoseCorruption(
        host, port, executorId, shuffleId, mapId, reduceId, checksum, algorithm);
  }

  @Override
  public MetricSet shuffleMetrics() {
    return stock.shuffleMetrics();
  }

  @Override
  public void setAppAttemptId(String appAttemptId) {
    stock.setAppAttemptId(appAttemptId);
  }

  @Override
  public String getAppAttemptId() {
    return stock.getAppAttemptId();
  }

  @Override
  public void getHostLocalDirs(
      String host,
      int port,
      String[] executorIds,
      CompletableFuture<Map<String, String[]>> localDirs) {
    stock.getHostLocalDirs(host, port, executorIds, localDirs);
  }

  @Override
  public void pushBlocks(
      String host,
      int port,
      String[] blockIds,
      ManagedBuffer[] buffers,
      BlockPushingListener listener) {
    stock.pushBlocks(host, port, blockIds, buffers, listener);
  }

  @Override
  public void finalizeShuffleMerge(
      String host, int port, int shuffleId, int shuffleMergeId, MergeFinalizerListener listener) {
    stock.finalizeShuffleMerge(host, port, shuffleId, shuffleMergeId, listener);
  }

  @Override
  public void getMergedBlockMeta(
      String host,
      int port,
      int shuffleId,
      int shuffleMergeId,
      int reduceId,
      MergedBlocksMetaListener listener) {
    stock.getMergedBlockMeta(host, port, shuffleId, shuffleMergeId, reduceId, listener);
  }

  @Override
  public boolean removeShuffleMerge(String host, int port, int shuffleId, int shuffleMergeId) {
    return stock.removeShuffleMerge(host, port, shuffleId, shuffleMergeId);
  }

  /** Spark's own client belongs to the block manager, which closes it; this only forwards. */
  @Override
  public void close() throws IOException {
    stock.close();
  }
}
