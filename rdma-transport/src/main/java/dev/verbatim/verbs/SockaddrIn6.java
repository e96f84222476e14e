package dev.verbatim.verbs;

/** An IPv6 socket address, {@code ipv6(7)}. */
public final class SockaddrIn6 {
  public static final CStruct STRUCT =
      CStruct.of(
          "sockaddr_in6",
          CTypes.i16("sin6_family"),
          CTypes.be16("sin6_port"),
          CTypes.be32("sin6_flowinfo"),
          CTypes.bytes("sin6_addr", 16),
          CTypes.i32("sin6_scope_id"));

  public static final ShortField SIN6_FAMILY = STRUCT.shortField("sin6_family");
  public static final ShortField SIN6_PORT = STRUCT.shortField("sin6_port");
  public static final IntField SIN6_FLOWINFO = STRUCT.intField("sin6_flowinfo");
  public static final IntField SIN6_SCOPE_ID = STRUCT.intField("sin6_scope_id");
  public static final BlockField SIN6_ADDR = STRUCT.blockField("sin6_addr");

  private SockaddrIn6() {}
}
