package dev.verbatim.shuffle.doctor;

import static dev.verbatim.shuffle.doctor.Diagnosis.assertFound;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Checks of the process and the host, beside its device. */
class HostChecksTest {
  private static final String LIMITS = "file /proc/self/limits";
  private static final String STATUS = "file /proc/self/status";
  private static final String UNLIMITED =
      "unlimited            unlimited            bytes     \nMax a";
  private static final String EIGHT_MIB =
      "8388608              8388608              bytes     \nMax a";

  @Test
  void shouldFindNothingWrongOnAHealthyHostButWhatNeedsADevice() {
    List<Finding> wrong =
        Patient.roce().examine().findings().stream()
            .filter(finding -> finding.verdict() != Verdict.OK)
            .toList();

    assertEquals(
        List.of("open", "file-pin", "read-loop"), wrong.stream().map(Finding::check).toList());
    wrong.forEach(finding -> assertEquals(Verdict.UNKNOWN, finding.verdict()));
  }

  @Test
  void shouldRefuseAnOldJdk() {
    assertFound(
        Verdict.PROBLEM,
        Patient.roce().answer(Recording.JDK, "25.0.2").finding("jdk"),
        "25.0.2",
        "25.0.3 or newer");
    assertFound(Verdict.OK, Patient.roce().answer(Recording.JDK, "26").finding("jdk"), "JDK 26");
  }

  @Test
  void shouldNameTheSettingThatIsWrong() {
    assertFound(
        Verdict.PROBLEM,
        Patient.roce().set("spark.shuffle.rdma.port", "1000").finding("settings"),
        "spark.shuffle.rdma.port",
        "1000");
    assertFound(
        Verdict.PROBLEM,
        Patient.roce().set("spark.shuffle.service.enabled", "true").finding("settings"),
        "EXTERNAL_SHUFFLE_SERVICE");
    assertFound(
        Verdict.WARNING, Patient.roce().manager("sort").finding("settings"), "RdmaShuffleManager");
    List<Finding> misspelt =
        Patient.roce().set("spark.shuffle.rdma.devise", "x").examine("settings").findings();
    assertFound(Verdict.WARNING, misspelt.getFirst(), "spark.shuffle.rdma.device");
  }

  @Test
  void shouldSayWhichLibrariesAreLoadedOrWhyNone() {
    assertFound(
        Verdict.OK,
        Patient.roce().finding("libraries"),
        "/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0, ",
        "librdmacm.so.1.3.44.0");
    assertFound(
        Verdict.PROBLEM,
        Patient.of("no-device.txt").finding("libraries"),
        "cannot open shared object file",
        "apt-get install libibverbs1");
  }

  @Test
  void shouldCompareTheLimitOfLockedMemoryWithWhatMayBePinned() {
    assertFound(
        Verdict.PROBLEM,
        Patient.roce().change(LIMITS, UNLIMITED, EIGHT_MIB).finding("memlock"),
        "8 MiB",
        "LimitMEMLOCK");
    assertFound(
        Verdict.WARNING,
        Patient.roce()
            .change(LIMITS, UNLIMITED, EIGHT_MIB.replace("8388608", "1073741824"))
            .finding("memlock"),
        "1 GiB",
        "4.508 GiB");
    assertFound(
        Verdict.OK,
        Patient.roce()
            .change(LIMITS, UNLIMITED, EIGHT_MIB)
            .change(STATUS, "0000000000000000", "0000000000004000")
            .finding("memlock"),
        "CAP_IPC_LOCK");
    assertFound(
        Verdict.UNKNOWN, Patient.roce().without(LIMITS).finding("memlock"), "/proc/self/limits");
  }

  @Test
  void shouldWantAsManyMappingsAsTheSettingsMayNeed() {
    Patient small = Patient.roce().file("/proc/sys/vm/max_map_count", "65530");
    assertFound(Verdict.OK, small.finding("max-map-count"), "65530");
    assertFound(
        Verdict.WARNING,
        small.set("spark.shuffle.rdma.copyThreshold", "0").finding("max-map-count"),
        "sysctl -w vm.max_map_count=1064960");
  }

  @Test
  void shouldWantHugePagesOfEitherKind() {
    String enabled = "/sys/kernel/mm/transparent_hugepage/enabled";
    Patient never = Patient.roce().file(enabled, "always madvise [never]");
    assertFound(
        Verdict.WARNING, never.finding("huge-pages"), "never", "sysctl -w vm.nr_hugepages=256");
    never.change("file /proc/meminfo", "HugePages_Free:        0", "HugePages_Free:      256");
    assertFound(Verdict.OK, never.finding("huge-pages"), "512 MiB");
    assertFound(
        Verdict.OK,
        Patient.roce()
            .without("file " + enabled)
            .set("spark.shuffle.rdma.hugePages", "false")
            .finding("huge-pages"),
        "hugePages=false");
  }

  @Test
  void shouldWarnOfAProcessThatIsKeptAwayFromTheNicsNode() {
    assertFound(Verdict.OK, Patient.roce().finding("numa"), "node 0 (processors 0-15)");
    assertFound(
        Verdict.WARNING,
        Patient.roce()
            .change(STATUS, "Cpus_allowed_list:\t0-31", "Cpus_allowed_list:\t16-31")
            .finding("numa"),
        "may use 16-31",
        "numactl --cpunodebind=0");
    assertFound(
        Verdict.UNKNOWN,
        Patient.roce().file("/sys/class/infiniband/mlx5_0/device/numa_node", "-1").finding("numa"),
        "the host has 2");
    assertFound(Verdict.OK, Patient.of("infiniband.txt").finding("numa"), "one NUMA node");
  }

  @Test
  void shouldCountGovernors() {
    String second = "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor";
    assertFound(Verdict.OK, Patient.roce().finding("cpu-governor"));
    assertFound(
        Verdict.WARNING,
        Patient.roce().file(second, "powersave").finding("cpu-governor"),
        "{performance=1, powersave=1}",
        "cpupower frequency-set");
    assertFound(Verdict.UNKNOWN, Patient.of("infiniband.txt").finding("cpu-governor"));
  }

  @Test
  void shouldSeeAContainerWithoutTheInterfaceOfThePort() {
    Patient container =
        Patient.roce()
            .answer("access /.dockerenv", "rwxr-xr-x root:root, not usable")
            .withoutFolder("/sys/class/net/eth0")
            .file("/sys/fs/cgroup/memory.max", "2147483648");
    List<Finding> findings = container.examine("container").findings();

    assertFound(
        Verdict.PROBLEM,
        findings.getFirst(),
        "eth0 is not in this network namespace, which has [lo]",
        "docker run --network host");
    assertFound(Verdict.WARNING, findings.getLast(), "/.dockerenv", "2 GiB", "memoryOverhead");
    assertFound(Verdict.OK, memory(Patient.roce()), "in no container, without a limit");
  }

  private static Finding memory(Patient patient) {
    return patient.examine("container").findings().getLast();
  }

  /** 1 GiB of heap, 384 MiB for the JVM, 512 MiB of pool, 4 GiB of map outputs. */
  @Test
  void shouldWantRoomForAnExecutorBesideWhatItPins() {
    String limit = "/sys/fs/cgroup/memory.max";
    String enough = String.valueOf(6016L << 20);
    assertFound(Verdict.OK, memory(Patient.roce().file(limit, enough)), "5.875 GiB", "room");
    assertFound(
        Verdict.WARNING,
        memory(Patient.roce().file(limit, String.valueOf(5L << 30))),
        "limited to 5 GiB",
        "of map outputs 3.125 GiB may be pinned",
        "5.875 GiB: an executor's heap, off-heap memory and JVM 1.375 GiB, the pool 512 MiB",
        "spark.executor.memoryOverhead");
    assertFound(
        Verdict.WARNING,
        memory(Patient.roce().file(limit, enough).set("spark.executor.memory", "3072")),
        "of map outputs 2 GiB");
    assertFound(
        Verdict.WARNING,
        memory(
            Patient.roce()
                .file(limit, enough)
                .set("spark.memory.offHeap.enabled", "true")
                .set("spark.memory.offHeap.size", "1g")),
        "of map outputs 3 GiB");
    assertFound(
        Verdict.OK,
        memory(
            Patient.roce()
                .file(limit, String.valueOf(3L << 30))
                .set("spark.shuffle.rdma.maxRegisteredBytes", "1g")));
  }

  @Test
  void shouldFindTheLimitOfAControlGroupWithoutANamespace() {
    assertFound(
        Verdict.WARNING,
        memory(Patient.roce().file("/sys/fs/cgroup/system.slice/memory.max", "4294967296")),
        "limited to 4 GiB");
    assertFound(
        Verdict.WARNING,
        memory(
            Patient.roce()
                .file("/proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/yarn/container_1\n0::/")
                .file(
                    "/sys/fs/cgroup/memory/yarn/container_1/memory.limit_in_bytes", "3221225472")),
        "limited to 3 GiB");
    assertFound(
        Verdict.WARNING,
        memory(Patient.roce().answer(Recording.MEMORY, "2147483648")),
        "limited to 2 GiB");
  }
}
