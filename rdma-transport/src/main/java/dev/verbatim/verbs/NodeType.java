package dev.verbatim.verbs;

/** Kind of a device. */
public enum NodeType implements NativeEnum {
  /** Channel adapter: InfiniBand or RoCE. */
  CA(1),
  /** Switch. */
  SWITCH(2),
  /** Router. */
  ROUTER(3),
  /** RDMA NIC: iWARP. */
  RNIC(4),
  /** Cisco usNIC. */
  USNIC(5),
  /** Cisco usNIC over UDP. */
  USNIC_UDP(6),
  /** A device with a transport of its own, such as EFA. */
  UNSPECIFIED(7),
  /** A number that this program does not know. */
  UNKNOWN(UNKNOWN_NUMBER);

  private static final NativeEnum.Table<NodeType> TABLE = new NativeEnum.Table<>(values());

  private final int number;

  NodeType(int number) {
    this.number = number;
  }

  /** The constant of a number; {@link #UNKNOWN} for one that is not known. */
  public static NodeType of(int number) {
    return TABLE.of(number, UNKNOWN);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public String cName() {
    return "IBV_NODE_" + name();
  }
}
