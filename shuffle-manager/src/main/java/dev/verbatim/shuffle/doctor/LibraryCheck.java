package dev.verbatim.shuffle.doctor;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The libraries of rdma-core must load into this process. */
final class LibraryCheck implements Check {
  private static final Pattern FILES =
      Pattern.compile("/\\S*/lib(?:ibverbs|rdmacm)\\.so\\.\\S+", Pattern.MULTILINE);

  @Override
  public String name() {
    return "libraries";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    VerbsView verbs = examination.verbs();
    if (!verbs.absent().isEmpty()) {
      findings.problem("", verbs.absent(), "libibverbs.so.1 and librdmacm.so.1", verbs.cure());
      return;
    }
    Matcher files = FILES.matcher(examination.host().read("/proc/self/maps").orElse(""));
    String loaded =
        files.results().map(r -> r.group()).distinct().collect(Collectors.joining(", "));
    findings.ok("", "loaded: " + (loaded.isEmpty() ? "libibverbs.so.1, librdmacm.so.1" : loaded));
  }
}
