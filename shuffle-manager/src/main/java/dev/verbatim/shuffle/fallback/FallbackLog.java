package dev.verbatim.shuffle.fallback;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says each pair of reason and peer once at WARN; what repeats is only counted. The lines are
 * bounded, but each reason is said once at least.
 */
public final class FallbackLog {
  private static final Logger LOG = LoggerFactory.getLogger(FallbackLog.class);
  private static final int MOST_LINES = 1000;

  private final Set<String> said = ConcurrentHashMap.newKeySet();
  private final Set<FallbackReason> reasons = ConcurrentHashMap.newKeySet();

  /**
   * @param peer executor that the blocks come from, or this executor for its own map outputs
   * @param detail what was seen
   */
  public void note(FallbackReason reason, String peer, String detail) {
    boolean first = reasons.add(reason);
    if ((first || said.size() < MOST_LINES) && said.add(reason + " " + peer)) {
      LOG.warn(
          "Blocks of executor {} go over TCP: {} ({}): {}. To change it: {}. Said once, counted"
              + " always.",
          peer,
          reason,
          reason.meaning(),
          detail,
          reason.remedy());
    }
  }
}
