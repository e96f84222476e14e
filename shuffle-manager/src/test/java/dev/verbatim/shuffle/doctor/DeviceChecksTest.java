package dev.verbatim.shuffle.doctor;

import static dev.verbatim.shuffle.doctor.Diagnosis.assertFound;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Checks of the device, its port and its link. */
class DeviceChecksTest {
  private static final String DEVICE = "/sys/class/infiniband/mlx5_0/";
  private static final String PORT = DEVICE + "ports/1/";
  private static final String ETHTOOL = "tool ethtool -S eth0";

  @Test
  void shouldSayThatThereIsNoDeviceAndWhatElseWasNotLookedAt() {
    Report report = Patient.of("no-device.txt").examine();

    assertEquals(Verdict.PROBLEM, report.verdict());
    assertFound(Verdict.PROBLEM, Patient.of("no-device.txt").finding("devices"), "no RDMA device");
    for (String check : List.of("port-state", "gid", "mtu", "pfc", "counters", "read-depth")) {
      assertFound(Verdict.UNKNOWN, Patient.of("no-device.txt").finding(check), "no RDMA port");
    }
  }

  @Test
  void shouldNameTheDriverOfACardThatHasNone() {
    assertFound(
        Verdict.PROBLEM,
        Patient.of("no-device.txt")
            .file("/sys/bus/pci/devices/0000:00:1f.6/vendor", "0x15b3")
            .finding("devices"),
        "modprobe mlx5_ib");
  }

  private static Patient withCard(String address, String vendor, String driver) {
    return addCard(Patient.of("no-device.txt"), address, vendor, driver);
  }

  private static Patient addCard(Patient host, String address, String vendor, String driver) {
    String folder = "/sys/bus/pci/devices/" + address;
    return host.file(folder + "/class", "0x020000")
        .file(folder + "/vendor", vendor)
        .file(folder + "/uevent", "DRIVER=" + driver + "\nPCI_CLASS=20000");
  }

  /** An I219 on a mainboard is of the vendor of E810 cards, and has no RDMA. */
  @Test
  void shouldTellACardWithRdmaFromOthersOfItsVendor() {
    Patient i219 = withCard("0000:00:1f.6", "0x8086", "e1000e");
    assertNoCard(i219);
    assertNoCard(withCard("0000:02:00.0", "0x14e4", "tg3"));
    assertNoCard(withCard("0000:02:00.0", "0x8086", "vfio-pci"));
    assertNoCard(
        Patient.of("no-device.txt").file("/sys/bus/pci/devices/0000:00:1f.6/vendor", "0x8086"));
    assertFound(
        Verdict.PROBLEM,
        addCard(i219, "0000:81:00.0", "0x8086", "ice").finding("devices"),
        "a network card that irdma serves",
        "modprobe irdma");
    assertFound(
        Verdict.PROBLEM,
        withCard("0000:81:00.0", "0x8086", "i40e").finding("devices"),
        "if it is an X722",
        "modprobe irdma");
    assertFound(
        Verdict.PROBLEM,
        withCard("0000:81:00.0", "0x15b3", "mlx4_core").finding("devices"),
        "modprobe mlx4_ib");
  }

  private static void assertNoCard(Patient patient) {
    Finding finding = patient.finding("devices");
    assertFound(Verdict.PROBLEM, finding, "no RDMA device", "fit a NIC with RDMA");
    assertTrue(!finding.seen().contains("network card"), finding.toString());
  }

  @Test
  void shouldNameTheDevicesWhenTheWantedOneIsNotAmongThem() {
    assertFound(
        Verdict.PROBLEM,
        Patient.roce().set("spark.shuffle.rdma.device", "mlx5_9").finding("devices"),
        "devices: mlx5_0",
        "mlx5_9");
  }

  @Test
  void shouldTellWhichDeviceCannotBeOpened() {
    List<Finding> findings =
        Patient.roce()
            .change("verbs", "\"failures\":[]", "\"failures\":[\"mlx5_0: EACCES\"]")
            .examine("devices")
            .findings();

    assertFound(Verdict.PROBLEM, findings.getLast(), "EACCES", "/dev/infiniband");
  }

  @Test
  void shouldWantTheDevicesFilesUsable() {
    List<Finding> findings =
        Patient.roce()
            .answer("access /dev/infiniband/uverbs0", "rw------- root:root, not usable")
            .examine("dev-infiniband")
            .findings();
    assertFound(Verdict.OK, findings.getFirst(), "rw-rw-rw-");
    assertFound(Verdict.PROBLEM, findings.getLast(), "rw-------", "chmod 0666");

    List<Finding> none =
        Patient.roce().withoutFolder("/dev/infiniband").examine("dev-infiniband").findings();
    assertFound(Verdict.PROBLEM, none.getFirst(), "no uverbs", "--device /dev/infiniband");
    assertFound(Verdict.PROBLEM, none.getLast(), "modprobe rdma_ucm");
  }

  @Test
  void shouldNotWantFilesOfDevicesThatTheSettingsLeaveOut() {
    Patient two =
        Patient.roce()
            .file("/sys/class/infiniband/mlx5_1/ports/1/state", "4: ACTIVE")
            .file("/sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_1")
            .file("/dev/infiniband/uverbs1", "")
            .answer("access /dev/infiniband/uverbs1", "rw------- root:root, not usable");
    assertEquals(Verdict.PROBLEM, two.examine("dev-infiniband").verdict());

    two.set("spark.shuffle.rdma.device", "mlx5_0");
    Report chosen = two.examine("dev-infiniband");
    assertEquals(Verdict.OK, chosen.verdict(), chosen.toString());
    assertFound(Verdict.OK, chosen.findings().getLast(), "of mlx5_1", "leave out");

    two.set("spark.shuffle.rdma.device", "mlx5_1");
    assertFound(
        Verdict.PROBLEM,
        two.examine("dev-infiniband").findings().getLast(),
        "rw-------",
        "chmod 0666 /dev/infiniband/uverbs1");
    Finding none =
        two.without("file /dev/infiniband/uverbs1").examine("dev-infiniband").findings().getFirst();
    assertFound(Verdict.PROBLEM, none, "no uverbs of a device that may be used");
  }

  @Test
  void shouldWantAnActivePort() {
    assertFound(Verdict.OK, Patient.roce().finding("port-state"), "4: ACTIVE", "RoCE (Ethernet)");
    assertFound(
        Verdict.PROBLEM,
        Patient.roce()
            .file(PORT + "state", "1: DOWN")
            .file(PORT + "phys_state", "3: Disabled")
            .finding("port-state"),
        "3: Disabled",
        "ip link set eth0 up");
    assertFound(
        Verdict.PROBLEM,
        Patient.of("infiniband.txt")
            .file("/sys/class/infiniband/mlx5_2/ports/1/state", "2: INIT")
            .finding("port-state"),
        "subnet manager");
  }

  @Test
  void shouldOnlyWarnOfASecondPortThatIsDown() {
    List<Finding> findings =
        Patient.roce()
            .file(DEVICE + "ports/2/state", "1: DOWN")
            .file(DEVICE + "ports/2/link_layer", "Ethernet")
            .examine("port-state")
            .findings();

    assertFound(Verdict.OK, findings.getFirst());
    assertFound(Verdict.WARNING, findings.getLast(), "1: DOWN");
    assertEquals("mlx5_0 port 2", findings.getLast().subject());
  }

  @Test
  void shouldCompareTheSpeedWithWhatTheNicSupports() {
    assertFound(
        Verdict.OK, Patient.roce().finding("link-speed"), "100 Gb/sec (4X EDR)", "100000 Mb/s");
    assertFound(
        Verdict.WARNING,
        Patient.roce()
            .file("/sys/class/net/eth0/speed", "25000")
            .file(PORT + "rate", "25 Gb/sec (1X EDR)")
            .finding("link-speed"),
        "25000 Mb/s",
        "100000 Mb/s");
    assertFound(
        Verdict.UNKNOWN,
        Patient.roce().without("tool ethtool eth0").finding("link-speed"),
        "there is no ethtool");
  }

  @Test
  void shouldCountTheLanesOfInfiniBand() {
    Patient infiniBand = Patient.of("infiniband.txt");
    assertFound(
        Verdict.UNKNOWN,
        infiniBand.finding("link-speed"),
        "200 Gb/sec (4X HDR)",
        "in no file of sysfs",
        "ibportstate -C mlx5_2 -P 1 -D 0 1");
    assertFound(
        Verdict.WARNING,
        infiniBand
            .file("/sys/class/infiniband/mlx5_2/ports/1/rate", "50 Gb/sec (1X HDR)")
            .finding("link-speed"),
        "4 lanes");
  }

  @Test
  void shouldComparePcieStatusWithCapability() {
    assertFound(Verdict.OK, Patient.roce().finding("pcie-link"), "16.0 GT/s PCIe x16");
    assertFound(
        Verdict.WARNING,
        Patient.roce().file(DEVICE + "device/current_link_width", "8").finding("pcie-link"),
        "16.0 GT/s PCIe x8 of 16.0 GT/s PCIe x16",
        "lspci -vv -s 0000:3b:00.0");
    assertFound(
        Verdict.WARNING,
        Patient.roce()
            .file(DEVICE + "device/current_link_speed", "8.0 GT/s PCIe")
            .finding("pcie-link"),
        "8.0 GT/s");
    assertFound(
        Verdict.UNKNOWN,
        Patient.roce().file(DEVICE + "device/current_link_speed", "Unknown").finding("pcie-link"),
        "hypervisor");
  }

  @Test
  void shouldWantAGidOfRoceV2ForAnIpAddress() {
    assertFound(Verdict.OK, Patient.roce().finding("gid"), "3 10.0.0.7 RoCE v2 eth0");
    Patient withoutV2 = Patient.roce().without("file " + PORT + "gids/3");
    assertFound(Verdict.PROBLEM, withoutV2.finding("gid"), "v1 is not routed");
    withoutV2.without("file " + PORT + "gids/2");
    assertFound(Verdict.PROBLEM, withoutV2.finding("gid"), "ip addr add", "dev eth0");
    assertFound(
        Verdict.WARNING,
        Patient.roce().set("spark.shuffle.rdma.address", "10.0.0.8").finding("gid"),
        "10.0.0.8");
    assertFound(
        Verdict.OK, Patient.roce().set("spark.shuffle.rdma.address", "10.0.0.7").finding("gid"));
    assertFound(Verdict.OK, Patient.of("infiniband.txt").finding("gid"), "fe80");
  }

  /** As in a container with an interface of the same name, in a network namespace of its own. */
  @Test
  void shouldWantAGidForAnAddressThatTheInterfaceHas() {
    Patient other = Patient.roce().answer("addresses eth0", "172.17.0.2\nfe80:0:0:0:0:0:0:1");
    assertFound(
        Verdict.WARNING,
        other.finding("gid"),
        "3 10.0.0.7 RoCE v2 eth0; and here eth0 has [172.17.0.2]",
        "ip addr add 10.0.0.7/24 dev eth0",
        "--network host");
    assertFound(
        Verdict.WARNING, other.set("spark.shuffle.rdma.address", "10.0.0.7").finding("gid"));
    assertFound(
        Verdict.WARNING, Patient.roce().answer("addresses eth0", "").finding("gid"), "eth0 has []");
    assertFound(Verdict.OK, Patient.roce().without("addresses eth0").finding("gid"));
  }

  /** Each GID is of an interface of its own, as of a VLAN on the port's. */
  @Test
  void shouldCompareAGidWithItsOwnInterface() {
    Patient vlan =
        Patient.roce()
            .answer("addresses eth0", "172.17.0.2")
            .file(PORT + "gids/5", "2001:0db8:0000:0000:0000:0000:0000:0007")
            .file(PORT + "gid_attrs/types/5", "RoCE v2")
            .file(PORT + "gid_attrs/ndevs/5", "eth0.100");
    assertFound(Verdict.WARNING, vlan.finding("gid"));
    assertFound(
        Verdict.OK, vlan.answer("addresses eth0.100", "2001:db8:0:0:0:0:0:7").finding("gid"));
    assertFound(Verdict.WARNING, vlan.set("spark.shuffle.rdma.address", "10.0.0.7").finding("gid"));
  }

  @Test
  void shouldWantTheLargestMtu() {
    assertFound(Verdict.OK, Patient.roce().finding("mtu"), "active 4096 of 4096, Ethernet 9000");
    assertFound(
        Verdict.WARNING,
        Patient.roce()
            .change("verbs", "\"activeMtu\":4096", "\"activeMtu\":1024")
            .file("/sys/class/net/eth0/mtu", "1500")
            .finding("mtu"),
        "Ethernet 1500",
        "ip link set eth0 mtu 9000");
    assertFound(Verdict.OK, Patient.of("infiniband.txt").finding("mtu"), "active 4096");
  }

  @Test
  void shouldCompareTheReadDepthWithTheDevices() {
    assertFound(Verdict.OK, Patient.roce().finding("read-depth"), "max_qp_rd_atom 16");
    assertFound(
        Verdict.WARNING,
        Patient.roce()
            .change("verbs", "\"readsServed\":16", "\"readsServed\":4")
            .finding("read-depth"),
        "qpsPerPeer=4");
    assertFound(
        Verdict.PROBLEM,
        Patient.roce()
            .change("verbs", "\"readsAsked\":16", "\"readsAsked\":0")
            .finding("read-depth"),
        "max_qp_init_rd_atom 0");
  }

  @Test
  void shouldFindInTheRecordingOfASoftRoceHostWhatWasFoundThere() {
    Patient softRoce = Patient.of("soft-roce.txt");
    assertFound(Verdict.OK, softRoce.finding("devices"), "rxe0");
    assertFound(Verdict.OK, softRoce.finding("port-state"), "4: ACTIVE", "RoCE (Ethernet)");
    assertFound(Verdict.OK, softRoce.finding("gid"), "1 10.77.0.1 RoCE v2 d0");
    assertFound(Verdict.OK, softRoce.finding("mtu"), "active 4096 of 4096, Ethernet 9000");
    assertFound(Verdict.OK, softRoce.finding("read-depth"), "max_qp_rd_atom 128");
    assertFound(Verdict.OK, softRoce.finding("libraries"), "libibverbs.so.1.14.44.0");
    for (String check : List.of("link-speed", "pcie-link", "pfc", "ecn")) {
      assertFound(Verdict.OK, softRoce.finding(check), "a driver without a NIC");
    }
    assertFound(Verdict.OK, softRoce.finding("counters"), "nothing lost");
    String counters = "/sys/class/infiniband/rxe0/ports/1/hw_counters/";
    String retries = counters + "retry_exceeded_err";
    assertFound(
        Verdict.WARNING,
        softRoce.file(retries, "3").answer("later file " + retries, "5").finding("counters"),
        "grew while the doctor looked: {retry_exceeded_err=2}");
    for (String counter :
        List.of(
            "completer_retry_err", "out_of_seq_request", "rcvd_seq_err", "retry_exceeded_err")) {
      softRoce.without("later file " + counters + counter);
    }
    assertFound(Verdict.UNKNOWN, softRoce.finding("counters"), "retry_exceeded_err=3", "one look");
  }

  @Test
  void shouldFindInTheRecordingOfAnIwarpHostWhatWasFoundThere() {
    Patient iwarp = Patient.of("soft-iwarp.txt");
    assertFound(Verdict.OK, iwarp.finding("devices"), "siw0");
    assertFound(Verdict.OK, iwarp.finding("port-state"), "4: ACTIVE", "iWARP");
    assertFound(Verdict.OK, iwarp.finding("mtu"), "iWARP goes by TCP");
    assertFound(Verdict.OK, iwarp.finding("read-depth"), "max_qp_rd_atom 128; wanted 16");
    for (String check : List.of("link-speed", "pcie-link")) {
      assertFound(Verdict.OK, iwarp.finding(check), "a driver without a NIC");
    }
    for (String check : List.of("pfc", "ecn", "traffic-class")) {
      assertFound(Verdict.OK, iwarp.finding(check), "not RoCE");
    }
    assertFound(Verdict.UNKNOWN, iwarp.finding("counters"), "the driver shows no counter");
    assertFound(
        Verdict.PROBLEM,
        iwarp.file("/sys/class/infiniband/siw0/ports/1/state", "1: DOWN").finding("port-state"),
        "1: DOWN");
  }

  @Test
  void shouldTellLossesAndPauses() {
    assertFound(Verdict.OK, Patient.roce().finding("counters"), "{rx_prio3_pause=17}");
    Patient patient =
        Patient.roce()
            .file(PORT + "hw_counters/out_of_sequence", "12")
            .answer("later file " + PORT + "hw_counters/out_of_sequence", "12")
            .change(ETHTOOL, "rx_discards_phy: 0", "rx_discards_phy: 99");
    Finding lossy = patient.finding("counters");
    assertFound(
        Verdict.OK,
        lossy,
        "while the doctor looked; since the driver was loaded: {out_of_sequence=12,"
            + " rx_discards_phy=99}");
    assertTrue(!lossy.seen().contains("packet_seq_err"), "a counter of 0: " + lossy);
    assertFound(
        Verdict.WARNING,
        patient
            .answer("later file " + PORT + "hw_counters/out_of_sequence", "15")
            .finding("counters"),
        "grew while the doctor looked: {out_of_sequence=3}",
        "{out_of_sequence=15, rx_discards_phy=99}",
        "rdma statistic show link mlx5_0/1");
    assertFound(
        Verdict.WARNING,
        Patient.roce()
            .answer("later " + ETHTOOL, "NIC statistics:\n     rx_discards_phy: 1")
            .finding("counters"),
        "looked: {rx_discards_phy=1}");
    assertFound(
        Verdict.UNKNOWN,
        Patient.roce()
            .withoutFolder(PORT + "counters")
            .withoutFolder(PORT + "hw_counters")
            .without(ETHTOOL)
            .finding("counters"));
  }
}
