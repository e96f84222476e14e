package dev.verbatim.shuffle.doctor;

import static dev.verbatim.shuffle.doctor.Diagnosis.assertFound;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.SparkConf;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;

class DoctorTest {
  private static final List<String> NEED_A_DEVICE = List.of("open", "file-pin", "read-loop");

  @TempDir private Path folder;

  @Test
  void shouldRunTheChecksThatAreNamedAlone() {
    Report report = Patient.roce().examine("mtu", "gid");

    assertEquals(List.of("gid", "mtu"), report.findings().stream().map(Finding::check).toList());
  }

  @Test
  void shouldMakeAFindingOfACheckThatFails() {
    Finding finding =
        Patient.roce()
            .file("/sys/class/infiniband/mlx5_0/device/numa_node", "none")
            .finding("numa");

    assertFound(Verdict.WARNING, finding, "the check failed", "NumberFormatException");
  }

  @Test
  void shouldMakeAFindingOfACheckThatEndsByAnError() {
    Host host = mock(Host.class);
    when(host.jdk()).thenThrow(new AssertionError("a call of the library"));

    Report report = Doctor.examine(host, Patient.roce().settings(), Set.of("jdk"));

    assertFound(Verdict.WARNING, report.findings().getFirst(), "a call of the library");
  }

  @Test
  void shouldEndWithTheWorstVerdict() {
    assertEquals(0, Patient.roce().examine().verdict().exitCode());
    assertEquals(1, Patient.roce().manager("sort").examine().verdict().exitCode());
    assertEquals(2, Patient.of("no-device.txt").examine().verdict().exitCode());
  }

  @Test
  void shouldWriteWhatIsNeededAndTheCureBelowWhatWasSeen() {
    String text = ReportText.of(Patient.of("no-device.txt").examine("devices", "jdk"));

    assertEquals(
        """
        plain: PROBLEM (1 problem, 0 warnings, 1 fine, 0 not seen)
          OK       jdk             JDK 25.0.3
          PROBLEM  devices         no RDMA device
        """,
        text.substring(0, text.indexOf("                           needed: ")));
    assertTrue(text.contains("\n                           cure: fit a NIC with RDMA"), text);
  }

  @Test
  void shouldKeepAReportAsJson() {
    Report report = Patient.roce().examine();

    assertEquals(report, Json.read(Json.write(report), Report.class));
  }

  /** This host as it is, and then as it was recorded: the same but for the device. */
  @Test
  void shouldFindTheSameInARecordingAsOnTheHost() {
    Settings settings = Settings.of(new SparkConf(false), "", List.of(folder));
    RecordingHost live = new RecordingHost(new LiveHost());
    Report first = Doctor.examine(live, settings, Set.of());
    Path file = folder.resolve("host.txt");
    live.recording().write(file);

    Report second = Doctor.examine(new RecordedHost(Recording.read(file)), settings, Set.of());

    assertEquals(withoutDevice(first), withoutDevice(second));
    assertTrue(first.findings().size() > NEED_A_DEVICE.size(), first.toString());
    assertFalse(first.findings().stream().anyMatch(f -> f.seen().contains("the check failed")));
  }

  /** All that is looked at has to be in a recording, the second look at counters too. */
  @Test
  void shouldFindTheSameInARecordingWhereMuchIsWrong() {
    String port = "/sys/class/infiniband/mlx5_0/ports/1/";
    Patient patient =
        Patient.roce()
            .answer("later file " + port + "hw_counters/out_of_sequence", "7")
            .answer("addresses eth0", "172.17.0.2")
            .answer("tool dcb apptrust show dev eth0", "order: pcp")
            .file("/sys/fs/cgroup/system.slice/memory.max", "4294967296")
            .file("/sys/class/infiniband/mlx5_1/ports/1/state", "4: ACTIVE")
            .file("/sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_1")
            .file("/dev/infiniband/uverbs1", "")
            .set("spark.shuffle.rdma.device", "mlx5_0");
    RecordingHost recorder = new RecordingHost(patient.host());
    Report first = Doctor.examine(recorder, patient.settings(), Set.of());
    Recording recording = Recording.parse(recorder.recording().text());

    Report second = Doctor.examine(new RecordedHost(recording), patient.settings(), Set.of());

    assertEquals(first, second);
    for (String check : List.of("counters", "gid", "traffic-class", "container")) {
      assertTrue(
          first.findings().stream()
              .anyMatch(f -> f.check().equals(check) && f.verdict() == Verdict.WARNING),
          check + ": " + first);
    }
  }

  @Test
  void shouldFindACardInARecording() {
    Patient patient =
        Patient.of("no-device.txt")
            .file("/sys/bus/pci/devices/0000:00:1f.6/vendor", "0x8086")
            .file("/sys/bus/pci/devices/0000:00:1f.6/uevent", "DRIVER=ice");
    RecordingHost recorder = new RecordingHost(patient.host());
    Report first = Doctor.examine(recorder, patient.settings(), Set.of("devices"));
    Host again = new RecordedHost(Recording.parse(recorder.recording().text()));

    assertEquals(first, Doctor.examine(again, patient.settings(), Set.of("devices")));
    assertTrue(first.findings().getFirst().cure().contains("modprobe irdma"), first.toString());
  }

  @Test
  void shouldKnowTheAddressesOfThisHost() throws Exception {
    Host live = new LiveHost();
    assertTrue(live.addresses("lo").orElseThrow().contains(InetAddress.ofLiteral("127.0.0.1")));
    assertEquals(Optional.empty(), live.addresses("no-such-one"));

    RecordingHost recorder = new RecordingHost(live);
    assertEquals(live.addresses("lo"), recorder.addresses("lo"));
    assertEquals(
        live.addresses("lo"),
        new RecordedHost(Recording.parse(recorder.recording().text())).addresses("lo"));
  }

  private static List<Finding> withoutDevice(Report report) {
    return report.findings().stream().filter(f -> !NEED_A_DEVICE.contains(f.check())).toList();
  }

  @Test
  void shouldEndAToolThatHangs() {
    ToolOutput output = new LiveHost().run("sleep", "60");

    assertEquals(ToolOutput.LATE, output.exit());
    assertEquals("sleep did not end in time", output.failure("sleep"));
    assertEquals(ToolOutput.ABSENT, new LiveHost().run("no-such-tool").exit());
    assertEquals("a", new LiveHost().run("echo", "a").text());
  }

  @Test
  void shouldExamineARecordingByTheProgram() throws Exception {
    Path file = folder.resolve("host.txt");
    Files.copy(DoctorTest.class.getResourceAsStream("/doctor/no-device.txt"), file);

    assertTrue(output("--replay", file.toString(), "--only", "devices").contains("no RDMA device"));
    assertEquals(2, ExamineHost.run("--replay", file.toString(), "--only", "devices"));
    Report report =
        Json.read(output("--json", "--replay", file.toString(), "--only", "jdk"), Report.class);
    assertEquals(Verdict.OK, report.verdict());
    assertEquals("plain", report.host());
    assertEquals(ExamineHost.FAILED, ExamineHost.run("--replay", folder.toString()));
    assertEquals(ExamineHost.FAILED, ExamineHost.run("--only", "weather"));
    assertEquals(0, ExamineHost.run("--help"));
  }

  /** Or a script would take for tested what nobody has seen. */
  @Test
  void shouldWarnWhenWhatWasAskedForByNameCannotBeSeen() throws Exception {
    Path file = folder.resolve("host.txt");
    Files.copy(DoctorTest.class.getResourceAsStream("/doctor/no-device.txt"), file);
    String[] arguments = {"--replay", file.toString(), "--only", "jdk,gid", "--json"};

    assertEquals(1, ExamineHost.run(arguments));
    Report report = Json.read(output(arguments), Report.class);
    assertEquals(Verdict.WARNING, report.verdict());
    assertFound(Verdict.OK, report.findings().getFirst(), "25.0.3");
    assertFound(Verdict.WARNING, report.findings().getLast(), "no RDMA port", "asked for by name");
    Report recorded = Patient.roce().examine("gid", "open");
    Finding open = recorded.asked(Set.of("open")).findings().getLast();
    assertFound(Verdict.WARNING, open, "a recording has no device");
    assertEquals(recorded, recorded.asked(Set.of()));
  }

  /** The JVM itself would end with 1, the code of warnings. */
  @ParameterizedTest
  @ValueSource(classes = {ExamineHost.class, ExamineExecutors.class})
  void shouldFailWhenSparksJarsAreNotThere(Class<?> program) throws Exception {
    String classes =
        Path.of(ExamineHost.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .toString();
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Process process =
        new ProcessBuilder(java.toString(), "-cp", classes, program.getName())
            .redirectErrorStream(true)
            .start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertEquals(ExamineHost.FAILED, process.waitFor(), said);
    assertTrue(said.startsWith("doctor: java.lang.NoClassDefFoundError"), said);
    assertTrue(said.contains("use Spark 4.2"), said);
  }

  /** Spark throws it as a checked exception, which Scala does not declare. */
  @Test
  void shouldFailWhenSparkDoesNotStart() {
    assertEquals(ExamineHost.FAILED, ExamineExecutors.run());
  }

  @Test
  void shouldWarnOfEachExecutorThatWasNotExamined() {
    List<BlockManagerId> executors =
        List.of(
            BlockManagerId.apply("1", "node1", 7077, Option.empty()),
            BlockManagerId.apply("2", "node2", 7077, Option.empty()));

    List<Finding> findings =
        ClusterExamination.unexamined("executors", executors, id -> id.host().equals("node2"));

    assertEquals(1, findings.size(), findings::toString);
    assertFound(Verdict.WARNING, findings.getFirst(), "no task could be had in it");
    assertEquals("1@node1", findings.getFirst().subject());
  }

  private static String output(String... arguments) {
    PrintStream before = System.out;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      ExamineHost.run(arguments);
    } finally {
      System.setOut(before);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void shouldNameTheOptionThatIsWrong() {
    assertTrue(
        assertThrows(IllegalArgumentException.class, () -> Options.parse("--fast"))
            .getMessage()
            .contains("--fast"));
    assertTrue(
        assertThrows(IllegalArgumentException.class, () -> Options.parse("--only"))
            .getMessage()
            .contains("--only needs a value"));
    Options options = Options.parse("--json", "--pairs", "--only", "mtu,gid");
    assertEquals(Set.of("mtu", "gid"), options.only());
    assertTrue(options.json() && options.pairs());
  }
}
