package dev.verbatim.shuffle.doctor;

import java.util.Optional;

/** Packets should carry as much as the port can do: 4096 bytes, on Ethernet with an MTU of 9000. */
final class MtuCheck extends PortCheck {
  private static final int LARGEST = 4096;

  MtuCheck() {
    super("mtu");
  }

  @Override
  void examine(RdmaPort port, Examination examination, Findings findings) {
    Optional<VerbsView.Port> verbs = examination.verbs().port(port.device(), port.number());
    if (port.isIwarp()) {
      findings.ok(port.toString(), "iWARP goes by TCP, which finds its own");
    } else if (verbs.isEmpty() || verbs.get().activeMtu() == 0) {
      findings.unknown(port.toString(), "the library does not tell it", "");
    } else {
      examine(port, verbs.get(), port.netdev("mtu"), findings);
    }
  }

  private static void examine(
      RdmaPort port, VerbsView.Port verbs, Optional<String> ethernet, Findings findings) {
    int best = verbs.maxMtu() == 0 ? LARGEST : Math.min(verbs.maxMtu(), LARGEST);
    String seen =
        "active %d of %d%s"
            .formatted(
                verbs.activeMtu(),
                best,
                port.isRoce() ? ethernet.map(m -> ", Ethernet " + m).orElse("") : "");
    if (verbs.activeMtu() >= best) {
      findings.ok(port.toString(), seen);
    } else {
      findings.warning(
          port.toString(),
          seen,
          "active MTU " + best,
          port.isRoce()
              ? "on all nodes, and 9216 or so on the switches: ip link set "
                  + port.netdev().orElse("DEV")
                  + " mtu 9000"
              : "set it in the subnet manager's partition");
    }
  }
}
