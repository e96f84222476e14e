package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A container must see the device's network interface, which lives in one network namespace, and
 * must have memory for what is pinned.
 */
final class ContainerCheck implements Check {
  private static final String CGROUP = "/sys/fs/cgroup";
  private static final String NAMESPACE_CURE =
      "docker run --network host; in Kubernetes hostNetwork: true, or an interface of the device"
          + " by a network plugin (macvlan, SR-IOV)";

  @Override
  public String name() {
    return "container";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    Host host = examination.host();
    Optional<String> sign =
        Stream.of("/.dockerenv", "/run/.containerenv", "/var/run/secrets/kubernetes.io")
            .filter(file -> host.access(file).isPresent())
            .findFirst();
    namespace(examination, sign.isPresent(), findings);
    memory(examination, sign, findings);
  }

  private static void namespace(Examination examination, boolean inside, Findings findings) {
    Host host = examination.host();
    List<String> visible = host.list("/sys/class/net");
    for (RdmaPort port : examination.ports()) {
      Optional<String> netdev = port.netdev();
      if (netdev.isEmpty()) {
        if (port.isRoce()) {
          findings.problem(
              port.toString(),
              "no network interface of it is in this network namespace, which has " + visible,
              "the interface of the port in this namespace",
              NAMESPACE_CURE);
        }
      } else if (visible.contains(netdev.get())) {
        findings.ok(port.toString(), netdev.get() + " is in this network namespace");
      } else {
        findings.problem(
            port.toString(),
            netdev.get() + " is not in this network namespace, which has " + visible,
            "the interface of the port in this namespace",
            inside ? NAMESPACE_CURE : "ip netns; start this process in the interface's namespace");
      }
    }
  }

  private static void memory(Examination examination, Optional<String> sign, Findings findings) {
    RdmaConf conf = examination.settings().rdma();
    long pinned = conf.get(RdmaConf.POOL_BYTES) + conf.get(RdmaConf.MAX_REGISTERED_BYTES);
    Optional<Long> limit =
        Stream.of(CGROUP + "/memory.max", CGROUP + "/memory/memory.limit_in_bytes")
            .flatMap(file -> examination.host().read(file).stream())
            .filter(text -> text.matches("\\d{1,18}")) // no limit is "max", or a larger number
            .map(Long::parseLong)
            .findFirst();
    String inside = sign.map(file -> "in a container (" + file + ")").orElse("in no container");
    if (limit.isEmpty()) {
      findings.ok("", inside + ", without a limit of memory");
    } else if (limit.get() < pinned) {
      findings.warning(
          "",
          inside + ", whose memory is limited to " + Sizes.text(limit.get()),
          Sizes.text(pinned) + " that may be pinned, beside heap and JVM; less is pinned otherwise",
          "raise spark.executor.memoryOverhead, or lower spark.shuffle.rdma.maxRegisteredBytes and"
              + " poolBytes");
    } else {
      findings.ok("", inside + ", whose memory is limited to " + Sizes.text(limit.get()));
    }
  }
}
