package dev.verbatim.shuffle.doctor;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.apache.spark.storage.BlockManagerId;

/**
 * What an examination of one process's host has found.
 *
 * @param host as the host calls itself, or Spark it
 * @param executor of Spark; empty where no executor was examined
 * @param verdict the worst of the findings
 */
public record Report(String host, String executor, Verdict verdict, List<Finding> findings) {

  public Report {
    findings = List.copyOf(findings);
  }

  static Report of(String host, List<Finding> findings) {
    return new Report(host, "", worst(findings), findings);
  }

  /** The same, of an executor that Spark knows at this host. */
  Report of(BlockManagerId id) {
    return new Report(id.host(), id.executorId(), verdict, findings);
  }

  /**
   * The same, where it is a warning that what was asked for by name could not be seen: else a
   * script would take it for tested.
   *
   * @param checks names of checks that were asked for
   */
  Report asked(Set<String> checks) {
    List<Finding> all =
        findings.stream().map(f -> checks.contains(f.check()) ? asked(f) : f).toList();
    return new Report(host, executor, worst(all), all);
  }

  private static Finding asked(Finding finding) {
    if (finding.verdict() != Verdict.UNKNOWN) {
      return finding;
    }
    return new Finding(
        finding.check(),
        finding.subject(),
        Verdict.WARNING,
        finding.seen(),
        "that it can be seen: it was asked for by name",
        finding.cure().isEmpty()
            ? "leave it out of --only where it cannot be seen"
            : finding.cure());
  }

  static Verdict worst(List<Finding> findings) {
    return findings.stream()
        .map(Finding::verdict)
        .max(Comparator.naturalOrder())
        .orElse(Verdict.OK);
  }

  long count(Verdict verdict) {
    return findings.stream().filter(f -> f.verdict() == verdict).count();
  }
}
