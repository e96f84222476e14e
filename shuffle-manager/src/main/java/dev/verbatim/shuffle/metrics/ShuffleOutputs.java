package dev.verbatim.shuffle.metrics;

import dev.verbatim.shuffle.fallback.FallbackReason;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * Map outputs of one shuffle that the driver's registry has records of.
 *
 * @param live false once the shuffle was removed; then the rest is how it was
 * @param registered how many can be READ
 * @param bytes their data
 * @param declined how many are left to TCP, by reason
 */
public record ShuffleOutputs(
    boolean live, long registered, long bytes, Map<FallbackReason, Long> declined) {

  public ShuffleOutputs {
    Map<FallbackReason, Long> copy = new EnumMap<>(FallbackReason.class);
    copy.putAll(declined);
    declined = Collections.unmodifiableMap(copy);
  }

  public ShuffleOutputs ended() {
    return new ShuffleOutputs(false, registered, bytes, declined);
  }
}
