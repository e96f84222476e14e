package dev.verbatim.transport;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps a peer that could not be reached from being tried again at once. A peer's first failure
 * costs the configured time, each further one twice as much, up to eight times.
 */
final class Backoff {
  private static final int MOST_DOUBLINGS = 3;
  private static final int PEERS_KEPT = 10_000;

  private record Entry(int failures, long untilNanos) {}

  private final long baseNanos;
  private final Map<String, Entry> entries = new ConcurrentHashMap<>();

  Backoff(long baseNanos) {
    this.baseNanos = baseNanos;
  }

  void failed(String peer, long nowNanos) {
    if (entries.size() >= PEERS_KEPT) {
      entries.values().removeIf(e -> e.untilNanos - nowNanos <= 0);
    }
    entries.compute(
        peer,
        (name, old) -> {
          int before = old == null ? 0 : old.failures;
          long wait = baseNanos << Math.min(before, MOST_DOUBLINGS);
          return new Entry(before + 1, nowNanos + wait);
        });
  }

  void succeeded(String peer) {
    entries.remove(peer);
  }

  /** Forgets all failures: their cause was this process's own port. */
  void clear() {
    entries.clear();
  }

  /** Nanoseconds until the peer may be tried; 0 when it may be now. */
  long remainingNanos(String peer, long nowNanos) {
    Entry entry = entries.get(peer);
    return entry == null ? 0 : Math.max(0, entry.untilNanos - nowNanos);
  }
}
