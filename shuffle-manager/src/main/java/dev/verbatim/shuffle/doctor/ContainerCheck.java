package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.writer.ContainerMemory;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;

/**
 * A container must see the device's network interface, which lives in one network namespace, and
 * must have memory for what is pinned beside what else an executor uses.
 */
final class ContainerCheck implements Check {
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

  /** As an executor reckons it, so that this says what its log would. */
  private static void memory(Examination examination, Optional<String> sign, Findings findings) {
    Host host = examination.host();
    String inside = sign.map(file -> "in a container (" + file + ")").orElse("in no container");
    OptionalLong limit = ContainerMemory.limit(host.memory(), host::read);
    if (limit.isEmpty()) {
      findings.ok("", inside + ", without a limit of memory");
      return;
    }
    RdmaConf conf = examination.settings().rdma();
    SparkConf spark = examination.settings().spark();
    long outputs = conf.get(RdmaConf.MAX_REGISTERED_BYTES);
    long pool = conf.get(RdmaConf.POOL_BYTES);
    long heap = spark.getSizeAsMb("spark.executor.memory", "1g") << 20;
    long others = ContainerMemory.others(heap, spark);
    long room = ContainerMemory.room(outputs, limit.getAsLong(), others + pool);
    String seen = inside + ", control group limited to " + Sizes.text(limit.getAsLong());
    if (room < outputs) {
      findings.warning(
          "",
          seen + ": of map outputs " + Sizes.text(room) + " may be pinned, and others go over TCP",
          "%s: an executor's heap, off-heap memory and JVM %s, the pool %s, map outputs %s"
              .formatted(
                  Sizes.text(others + pool + outputs),
                  Sizes.text(others),
                  Sizes.text(pool),
                  Sizes.text(outputs)),
          "raise spark.executor.memoryOverhead, or lower spark.shuffle.rdma.maxRegisteredBytes and"
              + " poolBytes");
    } else {
      findings.ok("", seen + ", with room for an executor and what it pins");
    }
  }
}
