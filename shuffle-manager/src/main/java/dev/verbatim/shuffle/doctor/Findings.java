package dev.verbatim.shuffle.doctor;

import java.util.ArrayList;
import java.util.List;

/** Takes what one check finds. */
final class Findings {
  private final String check;
  private final List<Finding> all = new ArrayList<>();

  Findings(String check) {
    this.check = check;
  }

  void ok(String subject, String seen) {
    all.add(new Finding(check, subject, Verdict.OK, seen, "", ""));
  }

  /**
   * @param why it could not be seen
   * @param cure what would let it be seen; empty where nothing would
   */
  void unknown(String subject, String why, String cure) {
    all.add(new Finding(check, subject, Verdict.UNKNOWN, why, "", cure));
  }

  void warning(String subject, String seen, String needed, String cure) {
    all.add(new Finding(check, subject, Verdict.WARNING, seen, needed, cure));
  }

  void problem(String subject, String seen, String needed, String cure) {
    all.add(new Finding(check, subject, Verdict.PROBLEM, seen, needed, cure));
  }

  void addAll(List<Finding> findings) {
    all.addAll(findings);
  }

  List<Finding> all() {
    return List.copyOf(all);
  }
}
