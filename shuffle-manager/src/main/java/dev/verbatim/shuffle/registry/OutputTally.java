package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleOutputs;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import java.util.EnumMap;
import java.util.Map;

/**
 * Sums over the records of one shuffle, kept up with each record: a shuffle may have millions of
 * them. Not thread-safe.
 */
final class OutputTally {
  private final Map<FallbackReason, Long> declined = new EnumMap<>(FallbackReason.class);
  private long registered;
  private long bytes;

  void add(MapOutputLocation output) {
    count(output, 1);
  }

  void remove(MapOutputLocation output) {
    count(output, -1);
  }

  private void count(MapOutputLocation output, int sign) {
    switch (output) {
      case Registered record -> {
        registered += sign;
        bytes += sign * record.dataLength();
      }
      case Declined record ->
          declined.merge(
              record.reason(), (long) sign, (a, b) -> a + b == 0 ? null : Long.valueOf(a + b));
    }
  }

  ShuffleOutputs outputs() {
    return new ShuffleOutputs(true, registered, bytes, declined);
  }
}
