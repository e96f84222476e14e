package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import java.util.List;

/** What is known about one committed map output: every one is either registered or declined. */
public sealed interface MapOutputLocation {

  /** Unique per task attempt of the application. */
  long mapId();

  /** Executor that registered or declined it. */
  String executorId();

  /**
   * A registered map output.
   *
   * @param regions the data in file order; all but the last are {@code regionLength} bytes long
   * @param regionLength bytes per region
   * @param dataLength bytes of the data file, from 1 to 2^40: what a reader plans for an output is
   *     bounded, whatever a record or an index says
   * @param index the index file: big-endian offsets, one more than reduce partitions
   */
  record Registered(
      long mapId,
      String executorId,
      List<RemoteAddress> regions,
      long regionLength,
      long dataLength,
      RemoteAddress index)
      implements MapOutputLocation {
    private static final long MOST_BYTES = 1L << 40;

    public Registered {
      regions = List.copyOf(regions);
      if (dataLength < 1
          || dataLength > MOST_BYTES
          || regionLength < 1
          || regions.size() != Math.ceilDiv(dataLength, regionLength)) {
        throw new IllegalArgumentException(
            regions.size() + " regions of " + regionLength + " bytes for " + dataLength);
      }
    }
  }

  /** A map output that stays on TCP. */
  record Declined(long mapId, String executorId, FallbackReason reason)
      implements MapOutputLocation {}

  /** An address as a peer's READ names it. */
  record RemoteAddress(long iova, int rkey) {}
}
