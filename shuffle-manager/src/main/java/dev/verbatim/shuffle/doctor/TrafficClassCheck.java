package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import java.util.Optional;
import java.util.stream.Stream;

/** RoCE packets should have the ToS byte that leads them to the priority with PFC. */
final class TrafficClassCheck extends PortCheck {
  TrafficClassCheck() {
    super("traffic-class");
  }

  @Override
  void examine(RdmaPort port, Examination examination, Findings findings) {
    if (!port.isRoce()) {
      findings.ok(port.toString(), "not RoCE: none is needed");
      return;
    }
    int tos = examination.settings().rdma().get(RdmaConf.TRAFFIC_CLASS);
    Optional<String> system = tos == 0 ? systems(port, examination.host()) : Optional.empty();
    int effective =
        tos == 0
            ? system.map(text -> text.replaceAll("\\D", "")).map(Integer::valueOf).orElse(0)
            : tos;
    String seen =
        tos == 0
            ? "spark.shuffle.rdma.trafficClass=0: the system's, "
                + system.orElse("which is not shown, so 0 as a rule")
            : "spark.shuffle.rdma.trafficClass=" + tos;
    Optional<String> netdev = port.netdev();
    if (port.isSoftware() || netdev.isEmpty()) {
      findings.ok(port.toString(), seen);
      return;
    }
    Optional<Priorities> priorities = Priorities.ask(examination.host(), netdev.get()).priorities();
    if (priorities.isEmpty() || priorities.get().paused().size() != 1) {
      findings.unknown(
          port.toString(), seen + "; there is no one priority with PFC that is known", "");
      return;
    }
    int wanted = priorities.get().paused().getFirst();
    int priority = priorities.get().of(effective, examination.host(), netdev.get());
    if (priority == wanted) {
      findings.ok(port.toString(), seen + ", which is priority " + priority);
    } else {
      // DSCP in the middle of the priority's eight, as 26 is for 3; and ECN-capable.
      int better = (wanted * 8 + 2) * 4 + 2;
      findings.warning(
          port.toString(),
          seen + ", which is priority " + priority,
          "a ToS byte that leads to priority " + wanted + ", the one with PFC",
          "spark.shuffle.rdma.trafficClass=" + better);
    }
  }

  /** What the kernel, or NVIDIA's driver above it, puts into packets of RDMA CM. */
  private static Optional<String> systems(RdmaPort port, Host host) {
    return Stream.of(
            RdmaPort.DEVICES + "/" + port.device() + "/tc/" + port.number() + "/traffic_class",
            "/sys/kernel/config/rdma_cm/%s/ports/%d/default_roce_tos"
                .formatted(port.device(), port.number()))
        .flatMap(file -> host.read(file).stream())
        .filter(text -> text.replaceAll("\\D", "").matches("\\d{1,3}"))
        .findFirst();
  }
}
