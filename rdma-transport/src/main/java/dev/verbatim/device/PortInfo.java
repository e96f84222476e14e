package dev.verbatim.device;

import dev.verbatim.verbs.LinkRate;
import dev.verbatim.verbs.PortState;
import java.util.List;

/**
 * A port of a device, at the moment of asking.
 *
 * @param number from 1
 * @param state what the port reports; only ACTIVE is usable
 * @param link kind of the link
 * @param activeMtu payload of a packet, bytes; 0 when unknown
 * @param maxMtu largest payload of a packet, bytes; 0 when unknown
 * @param maxMessageSize longest message, bytes, from 0
 * @param lid local identifier in an InfiniBand subnet, 0 elsewhere
 * @param gids valid entries of the GID table, in the table's order
 */
public record PortInfo(
    int number,
    PortState state,
    Link link,
    LinkRate rate,
    int activeMtu,
    int maxMtu,
    long maxMessageSize,
    int lid,
    List<GidInfo> gids) {

  public PortInfo {
    gids = List.copyOf(gids);
  }

  public boolean active() {
    return state == PortState.ACTIVE;
  }

  /** Kind of a link. */
  public enum Link {
    /** InfiniBand fabric. */
    INFINIBAND("InfiniBand"),
    /** RDMA over Ethernet whose best GID is of version 1. */
    ROCE_V1("RoCE v1"),
    /** RDMA over Ethernet with a GID of version 2: UDP port 4791. */
    ROCE_V2("RoCE v2"),
    /** RDMA over TCP. */
    IWARP("iWARP"),
    /** None of these. */
    OTHER("other");

    private final String label;

    Link(String label) {
      this.label = label;
    }

    /** For people, for example {@code RoCE v2}. */
    public String label() {
      return label;
    }
  }
}
