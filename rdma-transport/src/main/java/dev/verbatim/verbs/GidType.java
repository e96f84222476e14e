package dev.verbatim.verbs;

/** Type of a GID, which decides the packets' form. */
public enum GidType implements NativeEnum {
  /** InfiniBand, or RoCE v1 where the kernel cannot tell. */
  IB(0),
  /** RoCE v1: Ethernet frames, not routable. */
  ROCE_V1(1),
  /** RoCE v2: UDP port 4791. */
  ROCE_V2(2),
  /** A number that this program does not know. */
  UNKNOWN(UNKNOWN_NUMBER);

  private static final NativeEnum.Table<GidType> TABLE = new NativeEnum.Table<>(values());

  private final int number;

  GidType(int number) {
    this.number = number;
  }

  /** The constant of a number; {@link #UNKNOWN} for one that is not known. */
  public static GidType of(int number) {
    return TABLE.of(number, UNKNOWN);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public String cName() {
    return "IBV_GID_TYPE_" + name();
  }
}
