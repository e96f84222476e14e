package dev.verbatim.shuffle.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Runs all checks, or some, on one host. */
final class Doctor {
  /** What everything else needs comes first; what opens the device comes last. */
  static final List<Check> CHECKS =
      List.of(
          new JdkCheck(),
          new SettingsCheck(),
          new LibraryCheck(),
          new DeviceCheck(),
          new PermissionCheck(),
          new PortStateCheck(),
          new LinkSpeedCheck(),
          new PcieCheck(),
          new GidCheck(),
          new MtuCheck(),
          new ReadDepthCheck(),
          new MemlockCheck(),
          new ContainerCheck(),
          new MapCountCheck(),
          new HugePagesCheck(),
          new NumaCheck(),
          new GovernorCheck(),
          new PfcCheck(),
          new EcnCheck(),
          new TrafficClassCheck(),
          new OpenCheck(),
          new FilePinCheck(),
          new CountersCheck(),
          new ReadLoopCheck());

  private Doctor() {}

  static List<String> names() {
    return CHECKS.stream().map(Check::name).toList();
  }

  /**
   * Never fails by what a check meets: that is a finding.
   *
   * @param only names of checks; empty for all
   */
  static Report examine(Host host, Settings settings, Set<String> only) {
    List<Finding> findings = new ArrayList<>();
    try (Examination examination = new Examination(host, settings)) {
      for (Check check : CHECKS) {
        if (only.isEmpty() || only.contains(check.name())) {
          findings.addAll(run(check, examination));
        }
      }
    }
    return Report.of(host.name(), findings);
  }

  private static List<Finding> run(Check check, Examination examination) {
    Findings findings = new Findings(check.name());
    try {
      check.examine(examination, findings);
      if (findings.all().isEmpty()) {
        findings.unknown("", "there was nothing to look at", "");
      }
    } catch (RuntimeException | Error e) { // a file in a form that is not known, for one
      findings.warning(
          "", "the check failed: " + e, "a check that ends", "please report this as a fault");
    }
    return findings.all();
  }
}
