package dev.verbatim.shuffle.metrics;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.transport.TransportCounters;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/** Counters of one executor, cumulative from its start. Thread-safe. */
public final class ShuffleCounters {
  private final LongAdder blocksByRdma = new LongAdder();
  private final LongAdder bytesByRdma = new LongAdder();
  private final LongAdder blocksByTcp = new LongAdder();
  private final LongAdder bytesByTcp = new LongAdder();
  private final LongAdder outputsRegistered = new LongAdder();
  private final LongAdder outputsDeclined = new LongAdder();
  private final LongAdder registeredBytes = new LongAdder();
  private final LongAdder regions = new LongAdder();
  private final LongAdder registerNanos = new LongAdder();
  private final LongAdder handOverNanos = new LongAdder();
  private final Map<FallbackReason, LongAdder> fallbacks = new EnumMap<>(FallbackReason.class);

  private volatile Supplier<TransportCounters> transport = () -> TransportCounters.NONE;

  public ShuffleCounters() {
    for (FallbackReason reason : FallbackReason.values()) {
      fallbacks.put(reason, new LongAdder());
    }
  }

  public void blockByRdma(long bytes) {
    blocksByRdma.increment();
    bytesByRdma.add(bytes);
  }

  /** Takes back a block that its task did not want any more. */
  public void blockByRdmaUnwanted(long bytes) {
    blocksByRdma.decrement();
    bytesByRdma.add(-bytes);
  }

  public void blockByTcp(long bytes) {
    blocksByTcp.increment();
    bytesByTcp.add(bytes);
  }

  public void blocksByTcp(long blocks) {
    blocksByTcp.add(blocks);
  }

  public void bytesByTcp(long bytes) {
    bytesByTcp.add(bytes);
  }

  /** Counts blocks left to TCP. */
  public void fallback(FallbackReason reason, long count) {
    fallbacks.get(reason).add(count);
  }

  public void outputRegistered(long nanos) {
    outputsRegistered.increment();
    registerNanos.add(nanos);
  }

  /** Counts time that a map task spent in handing its output over. */
  public void handedOver(long nanos) {
    handOverNanos.add(nanos);
  }

  public void outputDeclined() {
    outputsDeclined.increment();
  }

  /** Counts regions of map outputs that were registered, or by negative numbers given up. */
  public void regions(int count, long bytes) {
    regions.add(count);
    registeredBytes.add(bytes);
  }

  /** From now on what the transport tells is part of the snapshots. */
  public void include(Supplier<TransportCounters> counters) {
    transport = counters;
  }

  public CounterSnapshot snapshot() {
    Map<FallbackReason, Long> counts = new EnumMap<>(FallbackReason.class);
    fallbacks.forEach(
        (reason, adder) -> {
          if (adder.sum() != 0) {
            counts.put(reason, adder.sum());
          }
        });
    return new CounterSnapshot(
        blocksByRdma.sum(),
        bytesByRdma.sum(),
        blocksByTcp.sum(),
        bytesByTcp.sum(),
        outputsRegistered.sum(),
        outputsDeclined.sum(),
        registeredBytes.sum(),
        regions.sum(),
        registerNanos.sum(),
        handOverNanos.sum(),
        counts,
        transport.get());
  }
}
