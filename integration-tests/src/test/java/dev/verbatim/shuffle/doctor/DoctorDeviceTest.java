package dev.verbatim.shuffle.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.verbatim.shuffle.RdmaShuffleManager;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The doctor on the device of this machine. */
@Tag("device")
class DoctorDeviceTest {
  @TempDir private Path folder;

  private Settings settings() {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.shuffle.rdma.connectTimeout", "60s")
            .set("spark.shuffle.rdma.readTimeout", "60s");
    return Settings.of(conf, RdmaShuffleManager.class.getName(), List.of(folder));
  }

  private static void assertOk(Report report, String... checks) {
    for (String check : checks) {
      List<Finding> findings =
          report.findings().stream().filter(f -> f.check().equals(check)).toList();
      assertTrue(!findings.isEmpty(), "nothing was found by " + check);
      findings.forEach(finding -> assertEquals(Verdict.OK, finding.verdict(), finding.toString()));
    }
  }

  @Test
  void shouldOpenPinAndReadOnTheDevice() {
    Report report =
        Doctor.examine(
            new LiveHost(),
            settings(),
            Set.of("libraries", "open", "read-depth", "file-pin", "read-loop"));

    assertOk(report, "libraries", "open", "file-pin", "read-loop");
    Finding loop = report.findings().getLast();
    assertTrue(loop.seen().matches("READ of 64 B .* us, of 1 MiB .*, bytes compared"), loop.seen());
    assertEquals(
        List.of(),
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith("verbatim-"))
            .toList());
  }

  @Test
  void shouldFindNoProblemOnADeviceOfTheKernel() {
    Host host = new LiveHost();
    assumeFalse(host.list(RdmaPort.DEVICES).isEmpty(), "the stand-in has no files in /sys");
    RecordingHost recorder = new RecordingHost(host);

    Report report = Doctor.examine(recorder, settings(), Set.of());

    System.out.println(ReportText.of(report));
    assertOk(report, "devices", "dev-infiniband", "port-state", "link-speed", "pcie-link", "gid");
    assertOk(report, "mtu", "read-depth", "open", "file-pin", "read-loop", "container");
    assertTrue(report.verdict().compareTo(Verdict.PROBLEM) < 0, () -> ReportText.of(report));
    String text = recorder.recording().text();
    if (text.contains("RoCE v2")) { // software iWARP has neither counters nor a GID for an address
      assertTrue(text.contains("=== later file "), "a second look at counters, in: " + text);
      assertTrue(text.contains("=== addresses "), "addresses of the interface, in: " + text);
    }
    Report again =
        Doctor.examine(
            new RecordedHost(Recording.parse(text)),
            settings(),
            Set.of("devices", "port-state", "gid", "mtu", "read-depth"));
    assertOk(again, "devices", "port-state", "gid", "mtu", "read-depth");
  }
}
