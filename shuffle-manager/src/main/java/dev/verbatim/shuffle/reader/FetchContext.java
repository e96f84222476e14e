package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackLog;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.transport.RdmaTransport;
import java.util.concurrent.Executor;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.util.TransportConf;

/**
 * What all fetches of an executor share.
 *
 * @param transport the open transport
 * @param locator finds map outputs
 * @param indexes of map outputs, kept for later tasks
 * @param batches for READs
 * @param stock Spark's own client, for all that is left to TCP
 * @param counters of this executor
 * @param log says fallbacks once
 * @param workers carry fetches on after READs; never blocked for long
 * @param io may be blocked: connects of the stock client, writing to disk
 * @param downloadConf for the temporary files of blocks that go to disk
 */
public record FetchContext(
    RdmaTransport transport,
    MapOutputLocator locator,
    IndexCache indexes,
    ReadBatches batches,
    BlockStoreClient stock,
    ShuffleCounters counters,
    FallbackLog log,
    Executor workers,
    Executor io,
    TransportConf downloadConf) {

  /** Why the own port is not active. */
  FallbackReason ownPortReason() {
    return transport.deviceFailure().isPresent()
        ? FallbackReason.DEVICE_ERROR
        : FallbackReason.PORT_NOT_ACTIVE;
  }
}
