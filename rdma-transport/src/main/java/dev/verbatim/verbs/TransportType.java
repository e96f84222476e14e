package dev.verbatim.verbs;

/** Transport protocol of a device. */
public enum TransportType implements NativeEnum {
  /** InfiniBand transport: InfiniBand or RoCE. */
  IB(0),
  /** iWARP. */
  IWARP(1),
  /** Cisco usNIC. */
  USNIC(2),
  /** Cisco usNIC over UDP. */
  USNIC_UDP(3),
  /** A transport of its own, such as EFA's. */
  UNSPECIFIED(4),
  /** A number that this program does not know. */
  UNKNOWN(UNKNOWN_NUMBER);

  private static final NativeEnum.Table<TransportType> TABLE = new NativeEnum.Table<>(values());

  private final int number;

  TransportType(int number) {
    this.number = number;
  }

  /** The constant of a number; {@link #UNKNOWN} for one that is not known. */
  public static TransportType of(int number) {
    return TABLE.of(number, UNKNOWN);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public String cName() {
    return "IBV_TRANSPORT_" + name();
  }
}
