package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** A RoCE port needs a GID of version 2 for an IP address that its interface has. */
final class GidCheck extends PortCheck {
  GidCheck() {
    super("gid");
  }

  @Override
  void examine(RdmaPort port, Examination examination, Findings findings) {
    List<RdmaPort.Gid> gids = port.gids();
    String seen =
        gids.isEmpty()
            ? "no GID"
            : gids.stream().map(GidCheck::describe).collect(Collectors.joining("; "));
    if (port.isRoce()) {
      examine(port, gids, seen, examination, findings);
    } else if (gids.isEmpty()) {
      findings.problem(port.toString(), seen, "a GID", "check the link and the subnet manager");
    } else {
      findings.ok(port.toString(), seen);
    }
  }

  private static void examine(
      RdmaPort port,
      List<RdmaPort.Gid> gids,
      String seen,
      Examination examination,
      Findings findings) {
    String wanted = examination.settings().rdma().get(RdmaConf.ADDRESS);
    String netdev = port.netdev().orElse("DEV");
    List<RdmaPort.Gid> routable =
        gids.stream().filter(gid -> !gid.isLinkLocal() && !gid.type().isEmpty()).toList();
    List<RdmaPort.Gid> useful = routable.stream().filter(RdmaPort.Gid::isRoceV2).toList();
    if (routable.isEmpty()) {
      findings.problem(
          port.toString(),
          seen,
          "a GID of RoCE v2 that stands for an IP address",
          "give the interface an address: ip addr add 10.0.0.7/24 dev " + netdev);
    } else if (useful.isEmpty()) {
      findings.problem(
          port.toString(),
          seen,
          "a GID of RoCE v2: v1 is not routed",
          "have the driver or firmware offer RoCE v2; rdma link show " + port.device());
    } else if (!wanted.isEmpty()
        && useful.stream().noneMatch(gid -> address(gid).equals(parse(wanted)))) {
      findings.warning(
          port.toString(),
          seen,
          "a GID of RoCE v2 for spark.shuffle.rdma.address=" + wanted,
          "set the address to one of this port's, or ip addr add " + wanted + "/24 dev " + netdev);
    } else {
      List<RdmaPort.Gid> chosen =
          useful.stream()
              .filter(gid -> wanted.isEmpty() || address(gid).equals(parse(wanted)))
              .toList();
      compare(port, chosen, seen, examination.host(), findings);
    }
  }

  /** Table and interface come apart where this process has a network namespace of its own. */
  private static void compare(
      RdmaPort port, List<RdmaPort.Gid> gids, String seen, Host host, Findings findings) {
    Map<String, List<InetAddress>> interfaces = new LinkedHashMap<>();
    boolean matches = false;
    for (RdmaPort.Gid gid : gids) {
      String netdev = gid.netdev().isEmpty() ? port.netdev().orElse("") : gid.netdev();
      Optional<List<InetAddress>> addresses = host.addresses(netdev);
      addresses.ifPresent(all -> interfaces.put(netdev, all));
      matches |= addresses.stream().flatMap(List::stream).anyMatch(a -> isOf(gid, a));
    }
    // None of the interfaces is here: that is said by the check of containers.
    if (matches || interfaces.isEmpty()) {
      findings.ok(port.toString(), seen);
      return;
    }
    String netdev = interfaces.keySet().iterator().next();
    String missing = address(gids.getFirst()).map(InetAddress::getHostAddress).orElse("ADDRESS");
    findings.warning(
        port.toString(),
        seen + "; and here " + describe(interfaces),
        "a GID of RoCE v2 for an IP address that the interface has",
        "ip addr add %s/%d dev %s; or, where this network namespace is not the port's, start this"
                .formatted(missing, missing.contains(":") ? 64 : 24, netdev)
            + " process in that one (docker run --network host)");
  }

  private static boolean isOf(RdmaPort.Gid gid, InetAddress address) {
    return address(gid).filter(address::equals).isPresent();
  }

  /** For example {@code eth0 has [10.0.0.7]}. */
  private static String describe(Map<String, List<InetAddress>> interfaces) {
    return interfaces.entrySet().stream()
        .map(
            entry ->
                entry.getValue().stream()
                    .filter(address -> !address.isLinkLocalAddress())
                    .map(InetAddress::getHostAddress)
                    .collect(Collectors.joining(", ", entry.getKey() + " has [", "]")))
        .collect(Collectors.joining(", "));
  }

  private static String describe(RdmaPort.Gid gid) {
    String text = address(gid).map(InetAddress::getHostAddress).orElse(gid.gid());
    return "%d %s%s%s"
        .formatted(
            gid.index(),
            text,
            gid.type().isEmpty() ? "" : " " + gid.type(),
            gid.netdev().isEmpty() ? "" : " " + gid.netdev());
  }

  /** The IP address that a GID stands for; Java turns IPv4-mapped bytes into IPv4 by itself. */
  private static Optional<InetAddress> address(RdmaPort.Gid gid) {
    try {
      return Optional.of(
          InetAddress.getByAddress(HexFormat.of().parseHex(gid.gid().replace(":", ""))));
    } catch (UnknownHostException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** An IP literal, as the setting's own check has made sure. */
  private static Optional<InetAddress> parse(String literal) {
    try {
      return Optional.of(InetAddress.getByName(literal));
    } catch (UnknownHostException e) {
      return Optional.empty();
    }
  }
}
