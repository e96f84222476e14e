package dev.verbatim.shuffle.doctor;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Congestion notification should be on where the driver shows it, at both of its ends. */
final class EcnCheck extends PortCheck {
  EcnCheck() {
    super("ecn");
  }

  @Override
  void examine(RdmaPort port, Examination examination, Findings findings) {
    if (!port.isRoce()) {
      findings.ok(port.toString(), "not RoCE: needs none");
    } else if (port.isSoftware()) {
      findings.ok(port.toString(), "a driver without a NIC: no congestion control");
    } else {
      examine(port, examination.host(), findings);
    }
  }

  private static void examine(RdmaPort port, Host host, Findings findings) {
    Optional<String> netdev = port.netdev();
    String folder = "/sys/class/net/" + netdev.orElse("") + "/ecn";
    if (netdev.isEmpty() || host.list(folder).isEmpty()) {
      findings.unknown(
          port.toString(),
          "this driver shows it by no file",
          "see the vendor's tool, such as mlxconfig or niccli; under load np_cnp_sent and"
              + " rp_cnp_handled must grow");
      return;
    }
    Priorities.Answer answer = Priorities.ask(host, netdev.get());
    List<Integer> wanted =
        answer.priorities().map(Priorities::paused).filter(p -> p.size() == 1).orElse(List.of());
    List<Integer> on =
        IntStream.range(0, 8)
            .filter(p -> isOn(host, folder + "/roce_np/enable/" + p))
            .filter(p -> isOn(host, folder + "/roce_rp/enable/" + p))
            .boxed()
            .toList();
    String seen = "on for the priorities " + on;
    if (on.containsAll(wanted) && !on.isEmpty()) {
      findings.ok(port.toString(), seen);
    } else {
      int priority = wanted.isEmpty() ? 3 : wanted.getFirst();
      findings.warning(
          port.toString(),
          seen,
          "ECN on for priority " + priority + ", as notification and as reaction point",
          "echo 1 | tee %s/roce_np/enable/%d %s/roce_rp/enable/%d"
              .formatted(folder, priority, folder, priority));
    }
  }

  private static boolean isOn(Host host, String file) {
    return host.read(file).filter("1"::equals).isPresent();
  }
}
