package dev.verbatim.transport;

import dev.verbatim.verbs.WcStatus;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What a transport has done and holds, at one moment; or the sum of several.
 *
 * @param portsActive 1 while the port is {@code PORT_ACTIVE}, else 0; how many in a sum
 * @param devicesLost 1 once the device is lost for the process; how many in a sum
 * @param readsCompleted READs (work requests) that ended well
 * @param readBytes bytes that they brought
 * @param readLatency batches of READs that ended well, by the time from posting to the end; after a
 *     connection's first 1,024, every 17th counts for 17
 * @param readFailures failed work requests by name of the work completion status, and batches by
 *     {@code DEADLINE}
 * @param connectsInitiated connections made
 * @param reconnects those of them to a peer that there had been a connection to before
 * @param connectsFailed attempts at a connection that failed
 * @param connectsAccepted connections accepted
 * @param connectsRefused incoming requests refused, by reason
 * @param queuePairs queue pairs open now
 * @param memoryRegions regions registered now, the pool's slabs included
 * @param registeredBytes bytes registered now, the pool's slabs included
 * @param mappings memory mappings held now, of files and of anonymous memory
 * @param poolBytes bytes of the pool's slabs now
 * @param poolUsedBytes bytes of slices in use now
 * @param asyncEvents asynchronous events by name
 */
public record TransportCounters(
    int portsActive,
    int devicesLost,
    long readsCompleted,
    long readBytes,
    LatencyCounts readLatency,
    Map<String, Long> readFailures,
    long connectsInitiated,
    long reconnects,
    long connectsFailed,
    long connectsAccepted,
    Map<String, Long> connectsRefused,
    int queuePairs,
    int memoryRegions,
    long registeredBytes,
    int mappings,
    long poolBytes,
    long poolUsedBytes,
    Map<String, Long> asyncEvents) {
  /** Where there is no transport. */
  public static final TransportCounters NONE =
      new TransportCounters(
          0,
          0,
          0,
          0,
          LatencyCounts.NONE,
          Map.of(),
          0,
          0,
          0,
          0,
          Map.of(),
          0,
          0,
          0,
          0,
          0,
          0,
          Map.of());

  /** All that {@link #readFailures} may name. */
  public static List<String> readFailureCauses() {
    return Stream.concat(
            Arrays.stream(WcStatus.values())
                .filter(status -> status != WcStatus.SUCCESS)
                .map(WcStatus::name),
            Stream.of(ReadFailure.Kind.DEADLINE.name()))
        .toList();
  }

  public TransportCounters plus(TransportCounters other) {
    return new TransportCounters(
        portsActive + other.portsActive,
        devicesLost + other.devicesLost,
        readsCompleted + other.readsCompleted,
        readBytes + other.readBytes,
        readLatency.plus(other.readLatency),
        sum(readFailures, other.readFailures),
        connectsInitiated + other.connectsInitiated,
        reconnects + other.reconnects,
        connectsFailed + other.connectsFailed,
        connectsAccepted + other.connectsAccepted,
        sum(connectsRefused, other.connectsRefused),
        queuePairs + other.queuePairs,
        memoryRegions + other.memoryRegions,
        registeredBytes + other.registeredBytes,
        mappings + other.mappings,
        poolBytes + other.poolBytes,
        poolUsedBytes + other.poolUsedBytes,
        sum(asyncEvents, other.asyncEvents));
  }

  private static Map<String, Long> sum(Map<String, Long> one, Map<String, Long> other) {
    Map<String, Long> sum = new TreeMap<>(one);
    other.forEach((key, count) -> sum.merge(key, count, Long::sum));
    return sum;
  }
}
