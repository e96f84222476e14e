package dev.verbatim.bench.registry;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SecurityManager;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.ExternalBlockStoreClient;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/** Fetches the pieces of a broadcast from a driver, as the first executor that wants it does. */
final class BroadcastFetch {
  private static final long TIMEOUT_MILLIS = 60_000;

  private final ExternalBlockStoreClient client;

  BroadcastFetch(SecurityManager security) {
    client =
        new ExternalBlockStoreClient(
            new TransportConf("shuffle", MapConfigProvider.EMPTY), security, false, TIMEOUT_MILLIS);
    client.init("bench");
  }

  /** Bytes fetched. */
  long run(String host, int port, List<String> blocks) throws InterruptedException {
    AtomicLong bytes = new AtomicLong();
    CompletableFuture<Void> failed = new CompletableFuture<>();
    CountDownLatch left = new CountDownLatch(blocks.size());
    client.fetchBlocks(
        host,
        port,
        "driver",
        blocks.toArray(String[]::new),
        new BlockFetchingListener() {
          @Override
          public void onBlockFetchSuccess(String block, ManagedBuffer data) {
            bytes.addAndGet(data.size());
            left.countDown();
          }

          @Override
          public void onBlockFetchFailure(String block, Throwable error) {
            failed.completeExceptionally(error);
            left.countDown();
          }
        },
        null);
    left.await();
    failed.getNow(null);
    return bytes.get();
  }
}
