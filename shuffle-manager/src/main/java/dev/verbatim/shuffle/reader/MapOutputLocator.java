package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Finds map outputs; the driver's registry stands behind it. */
public interface MapOutputLocator {

  /**
   * Locates map outputs of one executor. The future never fails: what cannot be found is missing in
   * the answer.
   */
  CompletableFuture<Located> locate(int shuffleId, String executorId, long[] mapIds);

  /**
   * An answer.
   *
   * @param peer the executor
   * @param outputs what was found, by map id
   * @param missing why the others were not found
   */
  record Located(PeerState peer, Map<Long, MapOutputLocation> outputs, FallbackReason missing) {}
}
