package dev.verbatim.shuffle.doctor;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Nothing should be lost or damaged on the link. Counters are of all time since the driver was
 * loaded: what counts is their growth while the doctor READs; the rest is told.
 */
final class CountersCheck implements Check {
  /** At least between the two looks. */
  private static final Duration INTERVAL = Duration.ofSeconds(1);

  @Override
  public String name() {
    return "counters";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    if (examination.ports().isEmpty()) {
      findings.unknown("", PortCheck.NO_PORT, "");
      return;
    }
    Host host = examination.host();
    Map<RdmaPort, PortCounters> before = new LinkedHashMap<>();
    long begin = System.nanoTime();
    examination.ports().forEach(port -> before.put(port, PortCounters.of(port, host)));
    examination.readLoop();
    Optional<Host> later = host.later(INTERVAL.minusNanos(System.nanoTime() - begin));
    before.forEach(
        (port, first) ->
            compare(
                port, first, later.map(look -> PortCounters.of(port.at(look), look)), findings));
  }

  private static void compare(
      RdmaPort port, PortCounters first, Optional<PortCounters> second, Findings findings) {
    PortCounters last = second.orElse(first);
    Map<String, Long> losses = PortCounters.counted(last.losses());
    Map<String, Long> pauses = PortCounters.counted(last.pauses());
    Map<String, Long> growth = last.lossesSince(first);
    String paused = pauses.isEmpty() ? "" : "; paused: " + pauses;
    String totals = "since the driver was loaded: " + losses + paused;
    if (!first.told()) {
      findings.unknown(port.toString(), "the driver shows no counter", "");
    } else if (losses.isEmpty()) {
      findings.ok(port.toString(), "nothing lost or damaged since the driver was loaded" + paused);
    } else if (second.isEmpty()) {
      findings.unknown(port.toString(), totals + "; a recording of one look shows no growth", "");
    } else if (growth.isEmpty()) {
      findings.ok(port.toString(), "nothing lost or damaged while the doctor looked; " + totals);
    } else {
      findings.warning(
          port.toString(),
          "grew while the doctor looked: " + growth + "; " + totals,
          "counters that stand still",
          "rdma statistic show link %s/%d shows more; PFC, cables, drops of the switch"
              .formatted(port.device(), port.number()));
    }
  }
}
