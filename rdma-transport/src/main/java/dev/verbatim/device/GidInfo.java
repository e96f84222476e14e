package dev.verbatim.device;

import dev.verbatim.verbs.GidType;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;

/**
 * An entry of a port's GID table.
 *
 * @param index in the table; never the same on all hosts
 * @param gid in IPv6 notation, for example {@code ::ffff:10.77.0.1} or {@code fe80::1}
 * @param type decides the packets' form
 * @param address the IP address that the GID stands for: the IPv4 address of a mapped one, the IPv6
 *     address of another on Ethernet; empty for link-local ones and on InfiniBand
 * @param netdev network interface, empty where there is none
 * @param netdevAddresses all IP addresses of that interface
 */
public record GidInfo(
    int index,
    String gid,
    GidType type,
    Optional<InetAddress> address,
    String netdev,
    List<InetAddress> netdevAddresses) {

  public GidInfo {
    netdevAddresses = List.copyOf(netdevAddresses);
  }

  static GidInfo of(
      int index, byte[] raw, GidType type, String netdev, List<InetAddress> netdevAddresses) {
    Optional<InetAddress> address =
        type == GidType.ROCE_V1 || type == GidType.ROCE_V2 ? routable(raw) : Optional.empty();
    return new GidInfo(index, text(raw), type, address, netdev, netdevAddresses);
  }

  private static Optional<InetAddress> routable(byte[] raw) {
    InetAddress address = inetAddress(raw);
    return address.isLinkLocalAddress() || address.isAnyLocalAddress()
        ? Optional.empty()
        : Optional.of(address);
  }

  /** Java turns IPv4-mapped bytes into an IPv4 address by itself. */
  private static InetAddress inetAddress(byte[] raw) {
    try {
      return InetAddress.getByAddress(raw);
    } catch (UnknownHostException e) {
      throw new AssertionError("a GID has 16 bytes", e);
    }
  }

  private static String text(byte[] raw) {
    InetAddress address = inetAddress(raw);
    if (raw.length != address.getAddress().length) {
      return "::ffff:" + address.getHostAddress();
    }
    return address.getHostAddress();
  }
}
