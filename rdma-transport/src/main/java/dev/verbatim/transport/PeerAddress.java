package dev.verbatim.transport;

import java.net.InetSocketAddress;
import java.util.Objects;

/**
 * Where a peer's listener is.
 *
 * @param name the peer's own name, for messages; unique within the application
 * @param address IP address of the peer's RDMA port and the port of its listener, resolved
 * @param challenge random number of the peer's process: requests for another process are refused
 */
public record PeerAddress(String name, InetSocketAddress address, long challenge) {
  public PeerAddress {
    Objects.requireNonNull(name);
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("unresolved peer address " + address);
    }
  }

  @Override
  public String toString() {
    return name + " at " + address;
  }
}
