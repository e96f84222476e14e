package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A port of an RDMA device, as the kernel's files describe it. */
final class RdmaPort {
  static final String DEVICES = "/sys/class/infiniband";
  private static final String UNUSED_GID = "0000:0000:0000:0000:0000:0000:0000:0000";

  private final Host host;
  private final String device;
  private final int number;

  private RdmaPort(Host host, String device, int number) {
    this.host = host;
    this.device = device;
    this.number = number;
  }

  /** Those that the settings allow. */
  static List<RdmaPort> all(Host host, RdmaConf conf) {
    List<RdmaPort> ports = new ArrayList<>();
    for (String device : host.list(DEVICES)) {
      for (String port : host.list(DEVICES + "/" + device + "/ports")) {
        boolean wanted =
            (conf.get(RdmaConf.DEVICE).isEmpty() || conf.get(RdmaConf.DEVICE).equals(device))
                && (conf.get(RdmaConf.PORT) == 0
                    || conf.get(RdmaConf.PORT) == Integer.parseInt(port));
        if (wanted) {
          ports.add(new RdmaPort(host, device, Integer.parseInt(port)));
        }
      }
    }
    return ports;
  }

  /** The same port, as another look at the host sees it. */
  RdmaPort at(Host look) {
    return new RdmaPort(look, device, number);
  }

  String device() {
    return device;
  }

  int number() {
    return number;
  }

  /** A line of the port, such as {@code state}. */
  Optional<String> attribute(String name) {
    return host.read(path(name));
  }

  String path(String name) {
    return DEVICES + "/" + device + "/ports/" + number + "/" + name;
  }

  /** A line of the PCI device, such as {@code numa_node}. */
  Optional<String> hardware(String name) {
    return host.read(DEVICES + "/" + device + "/device/" + name);
  }

  /** Whether the device is a driver alone, such as Soft-RoCE. */
  boolean isSoftware() {
    return hardware("uevent").isEmpty();
  }

  boolean isActive() {
    return attribute("state").filter(state -> state.endsWith("ACTIVE")).isPresent();
  }

  boolean isIwarp() {
    return host.read(DEVICES + "/" + device + "/node_type")
        .filter(type -> type.contains("RNIC"))
        .isPresent();
  }

  /** Whether the port speaks RoCE. */
  boolean isRoce() {
    return !isIwarp() && attribute("link_layer").filter("Ethernet"::equals).isPresent();
  }

  /** The network interface of the port. */
  Optional<String> netdev() {
    return attribute("gid_attrs/ndevs/0")
        .or(() -> host.read(DEVICES + "/" + device + "/parent"))
        .or(() -> host.list(DEVICES + "/" + device + "/device/net").stream().findFirst())
        .filter(name -> !name.isEmpty());
  }

  /** A line of the network interface, such as {@code mtu}. */
  Optional<String> netdev(String name) {
    return netdev().flatMap(netdev -> host.read("/sys/class/net/" + netdev + "/" + name));
  }

  OptionalInt numaNode() {
    Optional<String> node = hardware("numa_node");
    return node.isPresent() ? OptionalInt.of(Integer.parseInt(node.get())) : OptionalInt.empty();
  }

  /**
   * An entry of the GID table.
   *
   * @param gid as the kernel writes it
   * @param type {@code RoCE v2} or {@code IB/RoCE v1}; empty where there is none
   */
  record Gid(int index, String gid, String type, String netdev) {
    boolean isRoceV2() {
      return type.equals("RoCE v2");
    }

    boolean isLinkLocal() {
      return gid.startsWith("fe80:");
    }
  }

  /** The used entries of the GID table. */
  List<Gid> gids() {
    List<Gid> gids = new ArrayList<>();
    for (String index : host.list(path("gids"))) {
      Optional<String> gid = attribute("gids/" + index).filter(g -> !g.equals(UNUSED_GID));
      gid.ifPresent(
          text ->
              gids.add(
                  new Gid(
                      Integer.parseInt(index),
                      text,
                      attribute("gid_attrs/types/" + index).orElse(""),
                      attribute("gid_attrs/ndevs/" + index).orElse(""))));
    }
    gids.sort((a, b) -> Integer.compare(a.index, b.index));
    return gids;
  }

  @Override
  public String toString() {
    return device + " port " + number;
  }
}
