package dev.verbatim.verbs;

/** A global identifier: 16 bytes in network byte order, in the notation of IPv6. */
public final class IbvGid {
  public static final CStruct STRUCT =
      CStruct.union(
          "ibv_gid",
          CTypes.bytes("raw", 16),
          CTypes.struct(
              "global",
              CStruct.of("global", CTypes.be64("subnet_prefix"), CTypes.be64("interface_id"))));

  public static final BlockField RAW = STRUCT.blockField("raw");

  private IbvGid() {}
}
