package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;

/** Socket addresses of C, {@code struct sockaddr_in} and {@code struct sockaddr_in6}. */
public final class Sockaddr {
  private Sockaddr() {}

  /**
   * A socket address for C. A link-local IPv6 address keeps its scope, which RDMA CM needs.
   *
   * @throws IllegalArgumentException for an unresolved address
   */
  public static MemorySegment allocate(SegmentAllocator allocator, InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("unresolved address " + address);
    }
    byte[] ip = address.getAddress().getAddress();
    if (address.getAddress() instanceof Inet6Address v6) {
      MemorySegment sockaddr = SockaddrIn6.STRUCT.allocate(allocator);
      SockaddrIn6.SIN6_FAMILY.set(sockaddr, PosixConstants.AF_INET6);
      SockaddrIn6.SIN6_PORT.set(sockaddr, address.getPort());
      SockaddrIn6.SIN6_ADDR.get(sockaddr).copyFrom(MemorySegment.ofArray(ip));
      SockaddrIn6.SIN6_SCOPE_ID.set(sockaddr, v6.getScopeId());
      return sockaddr;
    }
    MemorySegment sockaddr = SockaddrIn.STRUCT.allocate(allocator);
    SockaddrIn.SIN_FAMILY.set(sockaddr, PosixConstants.AF_INET);
    SockaddrIn.SIN_PORT.set(sockaddr, address.getPort());
    SockaddrIn.SIN_ADDR.get(sockaddr).copyFrom(MemorySegment.ofArray(ip));
    return sockaddr;
  }

  /**
   * Reads a socket address, complete for its family; empty for a family other than IPv4 and IPv6.
   */
  public static Optional<InetSocketAddress> read(MemorySegment sockaddr) {
    try {
      return switch (SockaddrIn.SIN_FAMILY.get(sockaddr)) {
        case PosixConstants.AF_INET ->
            Optional.of(
                new InetSocketAddress(
                    InetAddress.getByAddress(SockaddrIn.SIN_ADDR.bytes(sockaddr, 0)),
                    SockaddrIn.SIN_PORT.get(sockaddr)));
        case PosixConstants.AF_INET6 -> Optional.of(readV6(sockaddr));
        default -> Optional.empty();
      };
    } catch (UnknownHostException e) {
      throw new AssertionError("addresses have 4 or 16 bytes", e);
    }
  }

  /** For messages; NULL is {@code any}. */
  static String describe(MemorySegment sockaddr) {
    if (sockaddr.address() == 0) {
      return "any";
    }
    return read(sockaddr).map(Object::toString).orElse("unknown address");
  }

  private static InetSocketAddress readV6(MemorySegment sockaddr) throws UnknownHostException {
    byte[] ip = SockaddrIn6.SIN6_ADDR.bytes(sockaddr, 0);
    int scope = SockaddrIn6.SIN6_SCOPE_ID.get(sockaddr);
    InetAddress address =
        scope == 0 ? InetAddress.getByAddress(ip) : Inet6Address.getByAddress(null, ip, scope);
    return new InetSocketAddress(address, SockaddrIn6.SIN6_PORT.get(sockaddr));
  }
}
