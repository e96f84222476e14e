package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.fallback.FallbackReason;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The kernel must have an RDMA device, the wanted one, and the library must be able to open it. */
final class DeviceCheck implements Check {
  private static final String PCI = "/sys/bus/pci/devices";
  private static final String NVIDIA = "0x15b3";

  /**
   * By the drivers of Ethernet that are bound. These know whether a card can do it: vendors have
   * others with nothing of the kind, and lists of devices grow old.
   */
  private static final Map<String, Card> CARDS =
      Map.of(
          "mlx5_core", new Card(NVIDIA, "mlx5_ib", ""),
          "mlx4_core", new Card(NVIDIA, "mlx4_ib", ""),
          "bnxt_en", new Card("0x14e4", "bnxt_re", ""),
          "ice", new Card("0x8086", "irdma", ""),
          "i40e", new Card("0x8086", "irdma", ", if it is an X722"),
          "cxgb4", new Card("0x1425", "iw_cxgb4", ""),
          "qede", new Card("0x1077", "qedr", ""),
          "hns3", new Card("0x19e5", "hns_roce_hw_v2", ""),
          "mana", new Card("0x1414", "mana_ib", ""),
          "ionic", new Card("0x1dd8", "ionic_rdma", ""));

  /**
   * A kind of card.
   *
   * @param vendor its number on the bus
   * @param driver that makes RDMA of it
   * @param condition under which it does
   */
  private record Card(String vendor, String driver, String condition) {}

  @Override
  public String name() {
    return "devices";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    Host host = examination.host();
    RdmaConf conf = examination.settings().rdma();
    List<String> devices = host.list(RdmaPort.DEVICES);
    if (devices.isEmpty() && !examination.verbs().ports().isEmpty()) {
      findings.unknown(
          "",
          "the library has devices, "
              + examination.verbs().ports().stream().map(VerbsView.Port::device).distinct().toList()
              + ", and "
              + RdmaPort.DEVICES
              + " has none",
          "mount /sys into the container");
    } else if (devices.isEmpty()) {
      Optional<Card> card = cardWithoutDriver(host);
      findings.problem(
          "",
          "no RDMA device"
              + card.map(
                      c -> "; there is a network card that " + c.driver + " serves" + c.condition)
                  .orElse(""),
          "a NIC with RoCE, InfiniBand or iWARP, and its driver",
          card.map(c -> "modprobe " + c.driver)
                  .orElse("fit a NIC with RDMA, or load its driver; rdma link; lspci -nnk")
              + "; in a container, see that the host's devices are visible in it");
    } else if (examination.ports().isEmpty()) {
      findings.problem(
          "",
          "devices: "
              + String.join(", ", devices)
              + "; spark.shuffle.rdma.device="
              + conf.get(RdmaConf.DEVICE)
              + ", spark.shuffle.rdma.port="
              + conf.get(RdmaConf.PORT),
          "a device and port that exist",
          "set spark.shuffle.rdma.device to one of them, or to nothing");
    } else {
      findings.ok("", "devices: " + String.join(", ", devices));
    }
    for (String failure : examination.verbs().failures()) {
      findings.problem(
          "",
          failure,
          "a device that this process can open",
          FallbackReason.NO_PERMISSION.remedy());
    }
  }

  private static Optional<Card> cardWithoutDriver(Host host) {
    for (String address : host.list(PCI)) {
      String folder = PCI + "/" + address;
      if (host.read(folder + "/class").filter(c -> c.startsWith("0x02")).isPresent()) {
        Optional<Card> card =
            card(
                host.read(folder + "/vendor").orElse(""),
                Uevent.value(host.read(folder + "/uevent"), "DRIVER"));
        if (card.isPresent()) {
          return card;
        }
      }
    }
    return Optional.empty();
  }

  private static Optional<Card> card(String vendor, Optional<String> bound) {
    // Where none is bound the vendor says it of NVIDIA's alone; theirs for RDMA loads the other.
    return Optional.ofNullable(CARDS.get(bound.orElse(vendor.equals(NVIDIA) ? "mlx5_core" : "")))
        .filter(card -> card.vendor.equals(vendor));
  }
}
