package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.fallback.FallbackPolicy;
import dev.verbatim.shuffle.fallback.FallbackReason;
import java.util.Optional;
import java.util.regex.Pattern;

/** The JDK must not move pinned memory. */
final class JdkCheck implements Check {
  private static final String NEEDED =
      "JDK " + FallbackPolicy.OLDEST_JDK + " or newer: older ones may move pinned memory";

  /** As far as {@link Runtime.Version} takes it: of 1.8.0_392 two numbers. */
  private static final Pattern RELEASE =
      Pattern.compile(
          "^JAVA_VERSION=\"([1-9][0-9]*(?:(?:\\.0)*\\.[1-9][0-9]*)*)", Pattern.MULTILINE);

  @Override
  public String name() {
    return "jdk";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    Host host = examination.host();
    Runtime.Version jdk = host.jdk();
    if (FallbackPolicy.isOldJdk(jdk)) {
      findings.problem("", "JDK " + jdk, NEEDED, FallbackReason.JDK_TOO_OLD.remedy());
    } else {
      findings.ok("", "JDK " + jdk);
    }
    host.javaHome().ifPresent(home -> examine(home, host, findings));
  }

  /** Says nothing of a Java that fits, which this process may be running on. */
  private static void examine(String home, Host host, Findings findings) {
    Optional<Runtime.Version> jdk =
        RELEASE
            .matcher(host.read(home + "/release").orElse(""))
            .results()
            .map(line -> Runtime.Version.parse(line.group(1)))
            .findFirst();
    if (jdk.isEmpty()) {
      findings.unknown(
          home,
          "JAVA_HOME or PATH names it, and it has no release file that says its version",
          home + "/bin/java -version");
    } else if (FallbackPolicy.isOldJdk(jdk.get())) {
      findings.warning(
          home,
          "JDK " + jdk.get() + ", which JAVA_HOME or PATH names: Spark's scripts would take it",
          NEEDED,
          FallbackReason.JDK_TOO_OLD.remedy() + "; JAVA_HOME in conf/spark-env.sh");
    }
  }
}
