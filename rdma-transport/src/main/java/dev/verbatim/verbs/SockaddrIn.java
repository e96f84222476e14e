package dev.verbatim.verbs;

/** An IPv4 socket address, {@code ip(7)}. */
public final class SockaddrIn {
  public static final CStruct STRUCT =
      CStruct.of(
          "sockaddr_in",
          CTypes.i16("sin_family"),
          CTypes.be16("sin_port"),
          CTypes.struct("sin_addr", CStruct.of("in_addr", CTypes.be32("s_addr"))),
          CTypes.bytes("sin_zero", 8));

  public static final ShortField SIN_FAMILY = STRUCT.shortField("sin_family");
  public static final ShortField SIN_PORT = STRUCT.shortField("sin_port");
  public static final BlockField SIN_ADDR = STRUCT.blockField("sin_addr");

  private SockaddrIn() {}
}
