package dev.verbatim.verbs;

/** State of a port. */
public enum PortState implements NativeEnum {
  /** Reserved. */
  NOP(0),
  /** No link. */
  DOWN(1),
  /** Link up, not yet configured by a subnet manager. */
  INIT(2),
  /** Configured, not yet active. */
  ARMED(3),
  /** Usable. */
  ACTIVE(4),
  /** Active, with link errors being repaired. */
  ACTIVE_DEFER(5),
  /** A number that this program does not know. */
  UNKNOWN(UNKNOWN_NUMBER);

  private static final NativeEnum.Table<PortState> TABLE = new NativeEnum.Table<>(values());

  private final int number;

  PortState(int number) {
    this.number = number;
  }

  /** The constant of a number; {@link #UNKNOWN} for one that is not known. */
  public static PortState of(int number) {
    return TABLE.of(number, UNKNOWN);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public String cName() {
    return "IBV_PORT_" + name();
  }
}
