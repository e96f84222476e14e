package dev.verbatim.shuffle.doctor;

/** One port must be PORT_ACTIVE, and those that are not are told. */
final class PortStateCheck extends PortCheck {
  PortStateCheck() {
    super("port-state");
  }

  @Override
  void examine(RdmaPort port, Examination examination, Findings findings) {
    String state = port.attribute("state").orElse("not told");
    String physical = port.attribute("phys_state").orElse("not told");
    String seen = "%s, link %s, %s".formatted(state, physical, kind(port));
    if (port.isActive()) {
      findings.ok(port.toString(), seen);
    } else if (examination.ports().stream().anyMatch(RdmaPort::isActive)) {
      findings.warning(port.toString(), seen, "PORT_ACTIVE, if it is to be used", cure(port));
    } else {
      findings.problem(port.toString(), seen, "PORT_ACTIVE", cure(port));
    }
  }

  private static String kind(RdmaPort port) {
    if (port.isIwarp()) {
      return "iWARP";
    }
    return port.attribute("link_layer")
        .map(layer -> layer.equals("Ethernet") ? "RoCE (Ethernet)" : layer)
        .orElse("link layer not told");
  }

  private static String cure(RdmaPort port) {
    boolean waitsForManager =
        port.attribute("state").filter(s -> s.contains("INIT") || s.contains("ARMED")).isPresent();
    if (waitsForManager && !port.isRoce()) {
      return "start a subnet manager, such as opensm, on the fabric";
    }
    return port.netdev()
        .map(netdev -> "ip link set " + netdev + " up; then cable and switch port")
        .orElse("check cable and switch port; ibv_devinfo -d " + port.device());
  }
}
