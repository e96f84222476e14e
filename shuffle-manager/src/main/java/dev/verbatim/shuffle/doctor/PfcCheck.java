package dev.verbatim.shuffle.doctor;

import java.util.List;
import java.util.Optional;

/** PFC should be on for one priority of a RoCE port, and never for all. */
final class PfcCheck extends PortCheck {
  PfcCheck() {
    super("pfc");
  }

  @Override
  void examine(RdmaPort port, Examination examination, Findings findings) {
    Optional<String> netdev = port.netdev();
    if (!port.isRoce()) {
      findings.ok(port.toString(), "not RoCE: needs none");
    } else if (port.isSoftware()) {
      findings.ok(port.toString(), "a driver without a NIC: no PFC of its own");
    } else if (netdev.isEmpty()) {
      findings.unknown(port.toString(), "its network interface is not known", "");
    } else {
      examine(port, netdev.get(), examination.host(), findings);
    }
  }

  private static void examine(RdmaPort port, String netdev, Host host, Findings findings) {
    Priorities.Answer answer = Priorities.ask(host, netdev);
    if (answer.priorities().isEmpty()) {
      findings.unknown(port.toString(), answer.why(), "apt-get install iproute2 (dcb), as root");
      return;
    }
    List<Integer> paused = answer.priorities().get().paused();
    String seen = "PFC on the priorities " + paused;
    String cure =
        "dcb pfc set dev %s prio-pfc all:off 3:on, or mlnx_qos -i %s --pfc 0,0,0,1,0,0,0,0"
            .formatted(netdev, netdev);
    switch (paused.size()) {
      case 1 -> findings.ok(port.toString(), seen);
      case 0 ->
          findings.warning(
              port.toString(),
              "PFC on no priority",
              "PFC on one priority, unless the NIC repeats lost packets selectively",
              cure);
      case 8 ->
          findings.problem(
              port.toString(),
              "PFC on all priorities",
              "PFC on one: with all, a slow receiver stops everybody, TCP too",
              cure);
      default -> findings.warning(port.toString(), seen, "PFC on the one priority of RoCE", cure);
    }
  }
}
