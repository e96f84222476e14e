package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.fallback.FallbackReason;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The kernel must have an RDMA device, the wanted one, and the library must be able to open it. */
final class DeviceCheck implements Check {
  private static final String PCI = "/sys/bus/pci/devices";

  /** Drivers by the vendor of a network card; the vendor's own manual knows of older cards. */
  private static final Map<String, String> DRIVERS =
      Map.of(
          "0x15b3", "mlx5_ib",
          "0x14e4", "bnxt_re",
          "0x8086", "irdma",
          "0x1425", "iw_cxgb4",
          "0x1077", "qedr");

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
      Optional<String> card = cardWithoutDriver(host);
      findings.problem(
          "",
          "no RDMA device"
              + card.map(
                      driver -> "; there is a network card that the driver " + driver + " serves")
                  .orElse(""),
          "a NIC with RoCE, InfiniBand or iWARP, and its driver",
          card.map(driver -> "modprobe " + driver)
                  .orElse("fit a NIC with RDMA, or load its driver; rdma link; lspci -nn")
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

  private static Optional<String> cardWithoutDriver(Host host) {
    for (String address : host.list(PCI)) {
      String folder = PCI + "/" + address;
      boolean network = host.read(folder + "/class").filter(c -> c.startsWith("0x02")).isPresent();
      Optional<String> driver = host.read(folder + "/vendor").map(DRIVERS::get);
      if (network && driver.isPresent()) {
        return driver;
      }
    }
    return Optional.empty();
  }
}
