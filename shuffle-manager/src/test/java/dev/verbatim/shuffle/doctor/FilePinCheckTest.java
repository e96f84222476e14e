package dev.verbatim.shuffle.doctor;

import static dev.verbatim.shuffle.doctor.Diagnosis.assertFound;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.transport.FilePinMode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FilePinCheckTest {
  @TempDir private Path folder;

  private Finding finding(FilePinMode mode) {
    Findings findings = new Findings("file-pin");
    FilePinCheck.examine(folder, mode, "5.15.0", findings);
    assertEquals(1, findings.all().size());
    return findings.all().getFirst();
  }

  @Test
  void shouldJudgeEachModeThatAProbeFinds() {
    assertFound(Verdict.OK, finding(FilePinMode.READ_ONLY_MAPPING), "kernel 5.15.0");
    assertFound(Verdict.WARNING, finding(FilePinMode.WRITABLE_MAPPING), "dirty", "6.2");
    assertFound(Verdict.WARNING, finding(FilePinMode.COPY), "copied", "spark.local.dir");
  }
}
