package dev.verbatim.verbs;

/** Size of the packets' payload. */
public enum Mtu implements NativeEnum {
  /** 256 bytes. */
  MTU_256(1, 256),
  /** 512 bytes. */
  MTU_512(2, 512),
  /** 1024 bytes. */
  MTU_1024(3, 1024),
  /** 2048 bytes. */
  MTU_2048(4, 2048),
  /** 4096 bytes. */
  MTU_4096(5, 4096),
  /** A number that this program does not know. */
  UNKNOWN(UNKNOWN_NUMBER, 0);

  private static final NativeEnum.Table<Mtu> TABLE = new NativeEnum.Table<>(values());

  private final int number;
  private final int bytes;

  Mtu(int number, int bytes) {
    this.number = number;
    this.bytes = bytes;
  }

  /** The constant of a number; {@link #UNKNOWN} for one that is not known. */
  public static Mtu of(int number) {
    return TABLE.of(number, UNKNOWN);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public String cName() {
    return "IBV_" + name();
  }

  /** Bytes, 0 when unknown. */
  public int bytes() {
    return bytes;
  }
}
