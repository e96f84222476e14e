package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** A RoCE port needs a GID of version 2 for an IP address of its interface. */
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
      String wanted = examination.settings().rdma().get(RdmaConf.ADDRESS);
      examine(port, gids, seen, wanted, findings);
    } else if (gids.isEmpty()) {
      findings.problem(port.toString(), seen, "a GID", "check the link and the subnet manager");
    } else {
      findings.ok(port.toString(), seen);
    }
  }

  private static void examine(
      RdmaPort port, List<RdmaPort.Gid> gids, String seen, String wanted, Findings findings) {
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
      findings.ok(port.toString(), seen);
    }
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
