package dev.verbatim.shuffle.doctor;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The NIC's PCIe link should run as fast and wide as the NIC can: LnkSta as LnkCap. */
final class PcieCheck extends PortCheck {
  private static final Pattern NUMBER = Pattern.compile("^([0-9.]+)");

  PcieCheck() {
    super("pcie-link");
  }

  @Override
  void examine(RdmaPort port, Examination examination, Findings findings) {
    if (port.isSoftware()) {
      findings.ok(port.device(), "a driver without a NIC: no PCIe link");
      return;
    }
    Optional<Double> speed = number(port, "current_link_speed");
    Optional<Double> most = number(port, "max_link_speed");
    Optional<Double> lanes = number(port, "current_link_width");
    Optional<Double> mostLanes = number(port, "max_link_width");
    if (speed.isEmpty() || most.isEmpty() || lanes.isEmpty() || mostLanes.isEmpty()) {
      findings.unknown(
          port.device(),
          "the kernel does not show its PCIe link, as in most virtual machines",
          "look on the hypervisor: lspci -vv, LnkSta and LnkCap");
      return;
    }
    String seen =
        "%s x%.0f of %s x%.0f"
            .formatted(
                port.hardware("current_link_speed").orElseThrow(),
                lanes.get(),
                port.hardware("max_link_speed").orElseThrow(),
                mostLanes.get());
    if (speed.get() < most.get() || lanes.get() < mostLanes.get()) {
      findings.warning(
          port.device(),
          seen,
          "LnkSta as LnkCap: all of the NIC's lanes and speed",
          "put the NIC into a wider or newer slot, or set its speed in the firmware of the"
              + " mainboard; lspci -vv -s "
              + slot(port));
    } else {
      findings.ok(port.device(), seen);
    }
  }

  private static String slot(RdmaPort port) {
    return Uevent.value(port.hardware("uevent"), "PCI_SLOT_NAME").orElse("ADDRESS");
  }

  /** The number that a text such as {@code 16.0 GT/s PCIe} begins with; none of {@code Unknown}. */
  private static Optional<Double> number(RdmaPort port, String file) {
    Matcher matcher = NUMBER.matcher(port.hardware(file).orElse(""));
    return matcher.find()
        ? Optional.of(Double.parseDouble(matcher.group(1))).filter(n -> n > 0)
        : Optional.empty();
  }
}
