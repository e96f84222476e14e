package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.fallback.FallbackPolicy;
import dev.verbatim.shuffle.fallback.FallbackReason;

/** The JDK must not move pinned memory. */
final class JdkCheck implements Check {
  @Override
  public String name() {
    return "jdk";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    Runtime.Version jdk = examination.host().jdk();
    if (FallbackPolicy.isOldJdk(jdk)) {
      findings.problem(
          "",
          "JDK " + jdk,
          "JDK " + FallbackPolicy.OLDEST_JDK + " or newer: older ones may move pinned memory",
          FallbackReason.JDK_TOO_OLD.remedy());
    } else {
      findings.ok("", "JDK " + jdk);
    }
  }
}
