package dev.verbatim.shuffle.doctor;

import java.util.Comparator;
import java.util.List;
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
