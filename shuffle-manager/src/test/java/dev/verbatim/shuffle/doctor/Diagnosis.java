package dev.verbatim.shuffle.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Compares findings with what a test expects of them. */
final class Diagnosis {
  private Diagnosis() {}

  /**
   * @param parts of what was seen, what is needed, or the cure
   */
  static void assertFound(Verdict verdict, Finding finding, String... parts) {
    assertEquals(verdict, finding.verdict(), finding.toString());
    for (String part : parts) {
      String all = finding.seen() + "\n" + finding.needed() + "\n" + finding.cure();
      assertTrue(all.contains(part), () -> "'" + part + "' is not in: " + finding);
    }
    if (verdict == Verdict.WARNING || verdict == Verdict.PROBLEM) {
      assertFalse(finding.needed().isEmpty(), finding.toString());
      assertFalse(finding.cure().isEmpty(), finding.toString());
    }
  }
}
