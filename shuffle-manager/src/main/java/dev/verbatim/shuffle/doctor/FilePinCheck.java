package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.RdmaTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Map outputs in each local folder should be registered as they are. */
final class FilePinCheck implements Check {
  private static final String CURE =
      "use a kernel from 6.2 on (this one is %s) and a local file system, such as ext4 or XFS, for"
          + " spark.local.dir";

  @Override
  public String name() {
    return "file-pin";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    Optional<RdmaTransport> transport = examination.transport();
    String kernel = examination.host().read("/proc/sys/kernel/osrelease").orElse("not told");
    for (Path folder : examination.settings().localDirs()) {
      if (transport.isEmpty()) {
        findings.unknown(folder.toString(), "needs a transport, and none opens", "");
      } else if (!Files.isWritable(folder)) {
        findings.problem(
            folder.toString(),
            "this user cannot write there",
            "a folder that Spark can write to",
            "mkdir -p %s; chown it to Spark's user; or set spark.local.dir".formatted(folder));
      } else {
        examine(folder, transport.get().probe(folder), kernel, findings);
      }
    }
  }

  static void examine(Path folder, FilePinMode mode, String kernel, Findings findings) {
    String seen = mode + " on " + fileSystem(folder) + ", kernel " + kernel;
    switch (mode) {
      case READ_ONLY_MAPPING -> findings.ok(folder.toString(), seen);
      case WRITABLE_MAPPING ->
          findings.warning(
              folder.toString(),
              seen + ": registering makes the pages dirty, and they are written again",
              "READ_ONLY_MAPPING",
              CURE.formatted(kernel));
      case COPY ->
          findings.warning(
              folder.toString(),
              seen + ": map outputs are copied into registered memory",
              "READ_ONLY_MAPPING",
              CURE.formatted(kernel));
    }
  }

  private static String fileSystem(Path folder) {
    try {
      return Files.getFileStore(folder).type();
    } catch (IOException e) {
      return "a file system that is not known";
    }
  }
}
