package dev.verbatim.verbs;

/** State of a queue pair. */
public enum QpState implements NativeEnum {
  RESET(0),
  INIT(1),
  /** Ready to receive. */
  RTR(2),
  /** Ready to send. */
  RTS(3),
  /** Send queue drained. */
  SQD(4),
  /** Send queue error. */
  SQE(5),
  /** Error: everything posted is flushed. */
  ERR(6),
  /** A number that this program does not know. */
  UNKNOWN(UNKNOWN_NUMBER);

  private static final NativeEnum.Table<QpState> TABLE = new NativeEnum.Table<>(values());

  private final int number;

  QpState(int number) {
    this.number = number;
  }

  /** The constant of a number; {@link #UNKNOWN} for one that is not known. */
  public static QpState of(int number) {
    return TABLE.of(number, UNKNOWN);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public String cName() {
    return "IBV_QPS_" + name();
  }
}
