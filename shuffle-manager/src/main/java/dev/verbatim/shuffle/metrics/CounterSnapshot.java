package dev.verbatim.shuffle.metrics;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.transport.TransportCounters;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * Cumulative counters of one executor at one moment.
 *
 * @param blocksByRdma remote blocks that arrived by RDMA READ
 * @param bytesByRdma their bytes
 * @param blocksByTcp remote blocks that arrived by Spark's own transfer
 * @param bytesByTcp their bytes
 * @param outputsRegistered map outputs registered since the start
 * @param outputsDeclined map outputs that were left to TCP
 * @param registeredBytes bytes registered for map outputs now
 * @param regions memory regions of map outputs now
 * @param registerNanos time spent in registering, off the tasks' threads, nanoseconds
 * @param handOverNanos time that map tasks spent in having it done, nanoseconds
 * @param fallbacks blocks that were left to TCP, by reason
 * @param transport what the transport has done and holds; all 0 while RDMA is off
 */
public record CounterSnapshot(
    long blocksByRdma,
    long bytesByRdma,
    long blocksByTcp,
    long bytesByTcp,
    long outputsRegistered,
    long outputsDeclined,
    long registeredBytes,
    long regions,
    long registerNanos,
    long handOverNanos,
    Map<FallbackReason, Long> fallbacks,
    TransportCounters transport) {
  public static final CounterSnapshot ZERO =
      new CounterSnapshot(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Map.of(), TransportCounters.NONE);

  public CounterSnapshot {
    Map<FallbackReason, Long> copy = new EnumMap<>(FallbackReason.class);
    copy.putAll(fallbacks);
    fallbacks = Collections.unmodifiableMap(copy);
  }

  public CounterSnapshot plus(CounterSnapshot other) {
    Map<FallbackReason, Long> sum = new EnumMap<>(FallbackReason.class);
    sum.putAll(fallbacks);
    other.fallbacks.forEach((reason, count) -> sum.merge(reason, count, Long::sum));
    return new CounterSnapshot(
        blocksByRdma + other.blocksByRdma,
        bytesByRdma + other.bytesByRdma,
        blocksByTcp + other.blocksByTcp,
        bytesByTcp + other.bytesByTcp,
        outputsRegistered + other.outputsRegistered,
        outputsDeclined + other.outputsDeclined,
        registeredBytes + other.registeredBytes,
        regions + other.regions,
        registerNanos + other.registerNanos,
        handOverNanos + other.handOverNanos,
        sum,
        transport.plus(other.transport));
  }
}
