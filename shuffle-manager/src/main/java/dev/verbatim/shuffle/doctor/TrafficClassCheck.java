package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** RoCE packets should have the ToS byte that leads them to the priority with PFC. */
final class TrafficClassCheck extends PortCheck {
  private static final int ECN_CAPABLE = 2;

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
    switch (priorities.get().trust()) {
      case DscpTrust.Unknown none ->
          findings.unknown(
              port.toString(), seen + "; " + none.why(), "apt-get install iproute2 (dcb), as root");
      case DscpTrust.Untrusted none ->
          findings.warning(
              port.toString(),
              seen + ", by which no packet gets its priority: " + none.seen(),
              "trust of DSCP, and a ToS byte that leads to priority " + wanted + ", that with PFC",
              roceQos(netdev.get(), wanted, effective >> 2));
      case DscpTrust.Trusted table ->
          compare(port, netdev.get(), seen, effective >> 2, wanted, table, findings);
    }
  }

  private static void compare(
      RdmaPort port,
      String netdev,
      String seen,
      int dscp,
      int wanted,
      DscpTrust.Trusted table,
      Findings findings) {
    Optional<Integer> priority = Optional.ofNullable(table.priorities().get(dscp));
    String led =
        priority
            .map(p -> ", which is priority " + p)
            .orElse(", whose DSCP " + dscp + " the card maps to no priority: it has the default");
    if (priority.filter(p -> p == wanted).isPresent()) {
      findings.ok(port.toString(), seen + led);
    } else {
      findings.warning(
          port.toString(),
          seen + led,
          "a ToS byte that leads to priority " + wanted + ", the one with PFC",
          better(table, wanted)
              .map(d -> "spark.shuffle.rdma.trafficClass=" + (d * 4 + ECN_CAPABLE))
              .orElseGet(() -> roceQos(netdev, wanted, dscp)));
    }
  }

  /** A DSCP that the card leads to the priority: the usual one, if there are several. */
  private static Optional<Integer> better(DscpTrust.Trusted table, int priority) {
    List<Integer> all =
        table.priorities().entrySet().stream()
            .filter(entry -> entry.getValue() == priority)
            .map(Map.Entry::getKey)
            .toList();
    return all.contains(usual(priority)) ? Optional.of(usual(priority)) : all.stream().findFirst();
  }

  /** In the middle of the priority's eight, as 26 is for 3. */
  private static int usual(int priority) {
    return priority * 8 + 2;
  }

  /** The script takes neither priority 0, which is everybody's, nor DSCP 0. */
  private static String roceQos(String netdev, int priority, int dscp) {
    String options =
        priority == 0
            ? ""
            : " --priority %d --dscp %d".formatted(priority, dscp == 0 ? usual(priority) : dscp);
    return "scripts/roce-qos set %s%s --apply, which names the trafficClass for it"
        .formatted(netdev, options);
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
