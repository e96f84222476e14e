package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.NodeAffinity;
import java.util.BitSet;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** This process should run on processors of the NIC's NUMA node. */
final class NumaCheck extends PortCheck {
  private static final String NODES = "/sys/devices/system/node";
  private static final Pattern ALLOWED =
      Pattern.compile("^Cpus_allowed_list:\\s*(\\S+)", Pattern.MULTILINE);

  NumaCheck() {
    super("numa");
  }

  @Override
  void examine(RdmaPort port, Examination examination, Findings findings) {
    Host host = examination.host();
    long nodes = host.list(NODES).stream().filter(name -> name.matches("node\\d+")).count();
    int node = port.numaNode().orElse(-1);
    if (nodes < 2) {
      findings.ok(port.device(), "this host has one NUMA node");
    } else if (node < 0 && port.isSoftware()) {
      findings.ok(port.device(), "a driver without a NIC is at no node");
    } else if (node < 0) {
      findings.unknown(
          port.device(),
          "the kernel does not know the NIC's node; the host has " + nodes,
          "look into the mainboard's manual, and at its firmware");
    } else {
      examine(port, node, host, findings);
    }
  }

  private static void examine(RdmaPort port, int node, Host host, Findings findings) {
    Matcher allowed = ALLOWED.matcher(host.read("/proc/self/status").orElse(""));
    Optional<String> near = host.read(NODES + "/node" + node + "/cpulist");
    if (!allowed.find() || near.isEmpty()) {
      findings.unknown(port.device(), "processors of the node or the process cannot be read", "");
      return;
    }
    BitSet own = NodeAffinity.processors(allowed.group(1));
    BitSet common = NodeAffinity.processors(near.get());
    common.and(own);
    String seen =
        "NIC at node %d (processors %s), this process may use %s"
            .formatted(node, near.get(), allowed.group(1));
    if (common.isEmpty()) {
      findings.warning(
          port.device(),
          seen,
          "processors of the NIC's node",
          "start the worker by numactl --cpunodebind=%d --membind=%d, or use a NIC of its node"
              .formatted(node, node));
    } else {
      findings.ok(port.device(), seen);
    }
  }
}
