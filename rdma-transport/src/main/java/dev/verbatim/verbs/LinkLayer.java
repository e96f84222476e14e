package dev.verbatim.verbs;

/** Link layer of a port. */
public enum LinkLayer implements NativeEnum {
  /** Left open: InfiniBand by an old driver. */
  UNSPECIFIED(0),
  /** InfiniBand. */
  INFINIBAND(1),
  /** Ethernet: RoCE or iWARP, as the transport type tells. */
  ETHERNET(2),
  /** A number that this program does not know. */
  UNKNOWN(UNKNOWN_NUMBER);

  private static final NativeEnum.Table<LinkLayer> TABLE = new NativeEnum.Table<>(values());

  private final int number;

  LinkLayer(int number) {
    this.number = number;
  }

  /** The constant of a number; {@link #UNKNOWN} for one that is not known. */
  public static LinkLayer of(int number) {
    return TABLE.of(number, UNKNOWN);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public String cName() {
    return "IBV_LINK_LAYER_" + name();
  }
}
