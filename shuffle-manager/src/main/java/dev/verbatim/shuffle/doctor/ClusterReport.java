package dev.verbatim.shuffle.doctor;

import java.util.ArrayList;
import java.util.List;

/**
 * What an examination of all executors has found.
 *
 * @param verdict the worst of the findings
 * @param executors a report of each
 * @param cluster findings of none of them: executors that did not come, READs between hosts
 */
public record ClusterReport(Verdict verdict, List<Report> executors, List<Finding> cluster) {

  public ClusterReport {
    executors = List.copyOf(executors);
    cluster = List.copyOf(cluster);
  }

  static ClusterReport of(List<Report> executors, List<Finding> cluster) {
    List<Finding> all = new ArrayList<>(cluster);
    executors.forEach(report -> all.addAll(report.findings()));
    return new ClusterReport(Report.worst(all), executors, cluster);
  }
}
