package dev.verbatim.shuffle.metrics;

import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Every number that Spark's metrics system is told of one executor; the driver tells the sums over
 * all executors by the same names.
 */
public enum ShuffleMetric {
  BYTES_BY_RDMA(
      "bytesByRdma",
      Kind.COUNTER,
      "bytes",
      "of remote blocks that came by RDMA READ",
      CounterSnapshot::bytesByRdma),
  BLOCKS_BY_RDMA(
      "blocksByRdma",
      Kind.COUNTER,
      "blocks",
      "remote ones that came by RDMA READ",
      CounterSnapshot::blocksByRdma),
  BYTES_BY_TCP(
      "bytesByTcp",
      Kind.COUNTER,
      "bytes",
      "of remote blocks by Spark's own transfer",
      CounterSnapshot::bytesByTcp),
  BLOCKS_BY_TCP(
      "blocksByTcp",
      Kind.COUNTER,
      "blocks",
      "remote ones by Spark's own transfer",
      CounterSnapshot::blocksByTcp),
  FALLBACKS(
      "fallbacks",
      Kind.COUNTER,
      "blocks",
      "left to TCP, for whatever reason",
      c -> sum(c.fallbacks())),
  OUTPUTS_REGISTERED(
      "outputsRegistered",
      Kind.COUNTER,
      "map outputs",
      "registered",
      CounterSnapshot::outputsRegistered),
  OUTPUTS_DECLINED(
      "outputsDeclined",
      Kind.COUNTER,
      "map outputs",
      "left to TCP",
      CounterSnapshot::outputsDeclined),
  REGISTER_NANOS(
      "registerNanos",
      Kind.COUNTER,
      "ns",
      "spent in registering, off the tasks",
      CounterSnapshot::registerNanos),
  HAND_OVER_NANOS(
      "handOverNanos",
      Kind.COUNTER,
      "ns",
      "of map tasks, spent in having it done",
      CounterSnapshot::handOverNanos),
  REGISTERED_BYTES(
      "registeredBytes",
      Kind.GAUGE,
      "bytes",
      "registered for map outputs now",
      CounterSnapshot::registeredBytes),
  REGIONS(
      "regions",
      Kind.GAUGE,
      "regions",
      "memory regions of map outputs now",
      CounterSnapshot::regions),
  PINNED_BYTES(
      "pinnedBytes",
      Kind.GAUGE,
      "bytes",
      "all registered now, the pool's included",
      c -> c.transport().registeredBytes()),
  PINNED_REGIONS(
      "pinnedRegions",
      Kind.GAUGE,
      "regions",
      "all now, the pool's included",
      c -> c.transport().memoryRegions()),
  MAPPINGS(
      "mappings",
      Kind.GAUGE,
      "mappings",
      "of files and memory held now",
      c -> c.transport().mappings()),
  POOL_BYTES(
      "poolBytes",
      Kind.GAUGE,
      "bytes",
      "of the pool of READ buffers now",
      c -> c.transport().poolBytes()),
  POOL_USED_BYTES(
      "poolUsedBytes",
      Kind.GAUGE,
      "bytes",
      "of them in use now",
      c -> c.transport().poolUsedBytes()),
  QUEUE_PAIRS(
      "queuePairs",
      Kind.GAUGE,
      "queue pairs",
      "open now, both of own and of peers' READs",
      c -> c.transport().queuePairs()),
  PORTS_ACTIVE(
      "portsActive",
      Kind.GAUGE,
      "ports",
      "`PORT_ACTIVE` now: 1 or 0 for an executor",
      c -> c.transport().portsActive()),
  DEVICES_LOST(
      "devicesLost",
      Kind.GAUGE,
      "devices",
      "that failed for good: 1 or 0 for an executor",
      c -> c.transport().devicesLost()),
  READS(
      "reads",
      Kind.COUNTER,
      "READs",
      "work requests that ended well, of index entries too",
      c -> c.transport().readsCompleted()),
  READ_BYTES(
      "readBytes", Kind.COUNTER, "bytes", "that they brought", c -> c.transport().readBytes()),
  READ_FAILURES(
      "readFailures",
      Kind.COUNTER,
      "failures",
      "of work requests, and late batches",
      c -> sum(c.transport().readFailures())),
  CONNECTS("connects", Kind.COUNTER, "connections", "made", c -> c.transport().connectsInitiated()),
  RECONNECTS(
      "reconnects",
      Kind.COUNTER,
      "connections",
      "of them, to a peer not for the first time",
      c -> c.transport().reconnects()),
  CONNECTS_FAILED(
      "connectsFailed",
      Kind.COUNTER,
      "attempts",
      "to connect that failed",
      c -> c.transport().connectsFailed()),
  CONNECTS_ACCEPTED(
      "connectsAccepted",
      Kind.COUNTER,
      "connections",
      "accepted from peers",
      c -> c.transport().connectsAccepted()),
  CONNECTS_REFUSED(
      "connectsRefused",
      Kind.COUNTER,
      "requests",
      "of peers that were refused",
      c -> sum(c.transport().connectsRefused())),
  ASYNC_EVENTS(
      "asyncEvents",
      Kind.COUNTER,
      "events",
      "of the port and the device",
      c -> sum(c.transport().asyncEvents()));

  /** How values of several executors, and of one over time, are to be taken. */
  public enum Kind {
    /** Only grows; the driver's sum keeps what lost executors have counted. */
    COUNTER,
    /** As it is now; the driver's sum is over the executors that are here. */
    GAUGE
  }

  private final String text;
  private final Kind kind;
  private final String unit;
  private final String doc;
  private final ToLongFunction<CounterSnapshot> value;

  ShuffleMetric(
      String text, Kind kind, String unit, String doc, ToLongFunction<CounterSnapshot> value) {
    this.text = text;
    this.kind = kind;
    this.unit = unit;
    this.doc = doc;
    this.value = value;
  }

  /** The name under the source's. */
  public String text() {
    return text;
  }

  public Kind kind() {
    return kind;
  }

  public String unit() {
    return unit;
  }

  public String doc() {
    return doc;
  }

  /** Its value in these counters. */
  public long of(CounterSnapshot counters) {
    return value.applyAsLong(counters);
  }

  private static long sum(Map<?, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }
}
