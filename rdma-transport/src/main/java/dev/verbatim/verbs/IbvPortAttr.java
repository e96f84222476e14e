package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;

/**
 * State of a port, {@code ibv_query_port(3)}. The struct has grown and will again: {@link
 * #allocate} gives it room.
 */
public final class IbvPortAttr {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_port_attr",
          CTypes.i32("state"),
          CTypes.i32("max_mtu"),
          CTypes.i32("active_mtu"),
          CTypes.i32("gid_tbl_len"),
          CTypes.i32("port_cap_flags"),
          CTypes.i32("max_msg_sz"),
          CTypes.i32("bad_pkey_cntr"),
          CTypes.i32("qkey_viol_cntr"),
          CTypes.i16("pkey_tbl_len"),
          CTypes.i16("lid"),
          CTypes.i16("sm_lid"),
          CTypes.i8("lmc"),
          CTypes.i8("max_vl_num"),
          CTypes.i8("sm_sl"),
          CTypes.i8("subnet_timeout"),
          CTypes.i8("init_type_reply"),
          CTypes.i8("active_width"),
          CTypes.i8("active_speed"),
          CTypes.i8("phys_state"),
          CTypes.i8("link_layer"),
          CTypes.i8("flags"),
          CTypes.i16("port_cap_flags2"));

  /** A number of {@link PortState}. */
  public static final IntField STATE = STRUCT.intField("state");

  /** A number of {@link Mtu}. */
  public static final IntField MAX_MTU = STRUCT.intField("max_mtu");

  /** A number of {@link Mtu}. */
  public static final IntField ACTIVE_MTU = STRUCT.intField("active_mtu");

  public static final IntField GID_TBL_LEN = STRUCT.intField("gid_tbl_len");
  public static final IntField PORT_CAP_FLAGS = STRUCT.intField("port_cap_flags");

  /** Longest message, bytes. */
  public static final IntField MAX_MSG_SZ = STRUCT.intField("max_msg_sz");

  public static final IntField BAD_PKEY_CNTR = STRUCT.intField("bad_pkey_cntr");
  public static final IntField QKEY_VIOL_CNTR = STRUCT.intField("qkey_viol_cntr");
  public static final ShortField PKEY_TBL_LEN = STRUCT.shortField("pkey_tbl_len");
  public static final ShortField LID = STRUCT.shortField("lid");
  public static final ShortField SM_LID = STRUCT.shortField("sm_lid");
  public static final ByteField LMC = STRUCT.byteField("lmc");
  public static final ByteField MAX_VL_NUM = STRUCT.byteField("max_vl_num");
  public static final ByteField SM_SL = STRUCT.byteField("sm_sl");
  public static final ByteField SUBNET_TIMEOUT = STRUCT.byteField("subnet_timeout");
  public static final ByteField INIT_TYPE_REPLY = STRUCT.byteField("init_type_reply");

  /** For {@link LinkRate}. */
  public static final ByteField ACTIVE_WIDTH = STRUCT.byteField("active_width");

  /** For {@link LinkRate}. */
  public static final ByteField ACTIVE_SPEED = STRUCT.byteField("active_speed");

  public static final ByteField PHYS_STATE = STRUCT.byteField("phys_state");

  /** A number of {@link LinkLayer}. */
  public static final ByteField LINK_LAYER = STRUCT.byteField("link_layer");

  public static final ByteField FLAGS = STRUCT.byteField("flags");
  public static final ShortField PORT_CAP_FLAGS2 = STRUCT.shortField("port_cap_flags2");

  private IbvPortAttr() {}

  /** Bytes that {@link #allocate} gives: several times of what any version is known to fill. */
  public static final long ROOM = 256;

  /**
   * A member that newer rdma-core has: {@code active_speed} in 32 bits, or 0 where the library is
   * older or the speed fits in 8 bits.
   */
  static final IntField ACTIVE_SPEED_EX = new IntField(52, ROOM, ValueLayout.JAVA_INT);

  /** A zeroed struct with room for later versions. */
  public static MemorySegment allocate(SegmentAllocator allocator) {
    return allocator.allocate(ROOM, Long.BYTES).fill((byte) 0);
  }

  /** The speed for {@link LinkRate}, wherever this version of the library reports it. */
  public static int speed(MemorySegment attr) {
    int extended = ACTIVE_SPEED_EX.get(attr);
    return extended != 0 ? extended : ACTIVE_SPEED.get(attr);
  }
}
