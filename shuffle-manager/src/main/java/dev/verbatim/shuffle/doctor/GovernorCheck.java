package dev.verbatim.shuffle.doctor;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Processors should not have to speed up first: a READ is over before they have. */
final class GovernorCheck implements Check {
  private static final String PROCESSORS = "/sys/devices/system/cpu";

  @Override
  public String name() {
    return "cpu-governor";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    Host host = examination.host();
    Map<String, Integer> governors = new TreeMap<>();
    for (String name : host.list(PROCESSORS)) {
      if (name.matches("cpu\\d+")) {
        host.read(PROCESSORS + "/" + name + "/cpufreq/scaling_governor")
            .ifPresent(governor -> governors.merge(governor, 1, Integer::sum));
      }
    }
    if (governors.isEmpty()) {
      findings.unknown("", "the kernel governs no clock here, as in most virtual machines", "");
    } else if (governors.keySet().equals(Set.of("performance"))) {
      findings.ok("", "performance on all processors");
    } else {
      findings.warning(
          "",
          "processors by governor: " + governors,
          "performance on all, for the least latency",
          "cpupower frequency-set -g performance");
    }
  }
}
