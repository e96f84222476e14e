package dev.verbatim.transport;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** Counts what a transport does, for {@link TransportCounters}. */
final class Counters {
  final AtomicLong readsCompleted = new AtomicLong();
  final AtomicLong readBytes = new AtomicLong();
  final LatencyRecorder readLatency = new LatencyRecorder();
  final LongAdder connectsInitiated = new LongAdder();
  final LongAdder reconnects = new LongAdder();
  final LongAdder connectsFailed = new LongAdder();
  final LongAdder connectsAccepted = new LongAdder();
  final AtomicInteger queuePairs = new AtomicInteger();
  final AtomicInteger memoryRegions = new AtomicInteger();
  final AtomicLong registeredBytes = new AtomicLong();
  final AtomicInteger mappings = new AtomicInteger();

  private final Map<String, LongAdder> readFailures = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> connectsRefused = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> asyncEvents = new ConcurrentHashMap<>();

  /** Called by the poller alone, so that no atomic addition is needed. */
  void readsSucceeded(int reads, long bytes) {
    readsCompleted.setRelease(readsCompleted.getPlain() + reads);
    readBytes.setRelease(readBytes.getPlain() + bytes);
  }

  void readFailed(String cause) {
    count(readFailures, cause);
  }

  void refused(Refusal reason) {
    count(connectsRefused, reason.name());
  }

  void asyncEvent(String name) {
    count(asyncEvents, name);
  }

  TransportCounters snapshot(int portsActive, int devicesLost, long poolBytes, long poolUsedBytes) {
    return new TransportCounters(
        portsActive,
        devicesLost,
        readsCompleted.get(),
        readBytes.get(),
        readLatency.snapshot(),
        copy(readFailures),
        connectsInitiated.sum(),
        reconnects.sum(),
        connectsFailed.sum(),
        connectsAccepted.sum(),
        copy(connectsRefused),
        queuePairs.get(),
        memoryRegions.get(),
        registeredBytes.get(),
        mappings.get(),
        poolBytes,
        poolUsedBytes,
        copy(asyncEvents));
  }

  private static void count(Map<String, LongAdder> map, String key) {
    map.computeIfAbsent(key, k -> new LongAdder()).increment();
  }

  private static Map<String, Long> copy(Map<String, LongAdder> map) {
    Map<String, Long> result = new TreeMap<>();
    map.forEach((key, adder) -> result.put(key, adder.sum()));
    return result;
  }
}
