package dev.verbatim.device;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.verbatim.verbs.GidType;
import dev.verbatim.verbs.IbvContext;
import dev.verbatim.verbs.IbvDevice;
import dev.verbatim.verbs.IbvDeviceAttr;
import dev.verbatim.verbs.IbvGidEntry;
import dev.verbatim.verbs.IbvPortAttr;
import dev.verbatim.verbs.LinkLayer;
import dev.verbatim.verbs.NodeType;
import dev.verbatim.verbs.PortState;
import dev.verbatim.verbs.TransportType;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import org.mockito.stubbing.Answer;

/** One device with one port behind a mocked {@link Verbs}; its structs are real memory. */
final class FakeDevice implements AutoCloseable {
  private final Arena arena = Arena.ofShared();
  private final Verbs verbs = mock(Verbs.class);
  private final MemorySegment device = IbvDevice.STRUCT.allocate(arena);
  private final MemorySegment context = IbvContext.STRUCT.allocate(arena);
  private final MemorySegment list = arena.allocateFrom(ValueLayout.ADDRESS, device);
  private final MemorySegment deviceAttr = IbvDeviceAttr.STRUCT.allocate(arena);
  private final MemorySegment portAttr = IbvPortAttr.allocate(arena);
  private final MemorySegment gids = IbvGidEntry.STRUCT.allocate(arena, 32);
  private long gidCount;

  FakeDevice(String name) throws VerbsException {
    IbvDevice.NAME.get(device).setString(0, name);
    IbvDevice.NODE_TYPE.set(device, NodeType.CA.number());
    transport(TransportType.IB);
    IbvContext.DEVICE.set(context, device);
    IbvContext.NUM_COMP_VECTORS.set(context, 4);
    MemorySegment function = MemorySegment.ofAddress(0x1000);
    IbvContext.OPS_POLL_CQ.set(context, function);
    IbvContext.OPS_REQ_NOTIFY_CQ.set(context, function);
    IbvContext.OPS_POST_SEND.set(context, function);
    IbvContext.OPS_POST_RECV.set(context, function);
    IbvDeviceAttr.FW_VER.get(deviceAttr).setString(0, "16.35.2000");
    IbvDeviceAttr.PHYS_PORT_CNT.set(deviceAttr, 1);
    state(PortState.ACTIVE.number());
    linkLayer(LinkLayer.ETHERNET);
    IbvPortAttr.MAX_MTU.set(portAttr, 5);
    IbvPortAttr.ACTIVE_MTU.set(portAttr, 5);
    IbvPortAttr.MAX_MSG_SZ.set(portAttr, 1 << 31);
    IbvPortAttr.ACTIVE_SPEED.set(portAttr, 32);
    IbvPortAttr.ACTIVE_WIDTH.set(portAttr, 2);

    when(verbs.getDeviceList(any()))
        .thenAnswer(
            call -> {
              call.<MemorySegment>getArgument(0).set(ValueLayout.JAVA_INT, 0, 1);
              return list;
            });
    when(verbs.getDeviceName(any())).thenReturn(name);
    when(verbs.getDeviceGuid(any())).thenReturn(0x1122334455667788L);
    when(verbs.openDevice(any())).thenReturn(context);
    doAnswer(copyTo(1, deviceAttr)).when(verbs).queryDevice(any(), any());
    doAnswer(copyTo(2, portAttr)).when(verbs).queryPort(any(), anyInt(), any());
    when(verbs.queryGidTable(any(), any(), anyLong()))
        .thenAnswer(
            call -> {
              call.<MemorySegment>getArgument(1).copyFrom(gids);
              return gidCount;
            });
  }

  private static Answer<Void> copyTo(int argument, MemorySegment source) {
    return call -> {
      call.<MemorySegment>getArgument(argument).copyFrom(source);
      return null;
    };
  }

  Verbs verbs() {
    return verbs;
  }

  MemorySegment context() {
    return context;
  }

  MemorySegment list() {
    return list;
  }

  void limits(int maxQpRdAtom, int maxQpInitRdAtom, int maxMr, long maxMrSize) {
    IbvDeviceAttr.MAX_QP_RD_ATOM.set(deviceAttr, maxQpRdAtom);
    IbvDeviceAttr.MAX_QP_INIT_RD_ATOM.set(deviceAttr, maxQpInitRdAtom);
    IbvDeviceAttr.MAX_MR.set(deviceAttr, maxMr);
    IbvDeviceAttr.MAX_MR_SIZE.set(deviceAttr, maxMrSize);
  }

  void transport(TransportType type) {
    IbvDevice.TRANSPORT_TYPE.set(device, type.number());
  }

  void state(int number) {
    IbvPortAttr.STATE.set(portAttr, number);
  }

  void linkLayer(LinkLayer layer) {
    linkLayer(layer.number());
  }

  void linkLayer(int number) {
    IbvPortAttr.LINK_LAYER.set(portAttr, number);
  }

  void gid(int index, int port, String gid, GidType type, int interfaceIndex) {
    byte[] raw = InetAddress.ofLiteral(gid).getAddress();
    MemorySegment target = IbvGidEntry.GID.get(gids, gidCount);
    if (raw.length == 4) {
      target.set(ValueLayout.JAVA_SHORT, 10, (short) -1);
    }
    MemorySegment.copy(raw, 0, target, ValueLayout.JAVA_BYTE, 16 - raw.length, raw.length);
    IbvGidEntry.GID_INDEX.set(gids, gidCount, index);
    IbvGidEntry.PORT_NUM.set(gids, gidCount, port);
    IbvGidEntry.GID_TYPE.set(gids, gidCount, type.number());
    IbvGidEntry.NDEV_IFINDEX.set(gids, gidCount, interfaceIndex);
    gidCount++;
  }

  void failGidTable(VerbsException reason) throws VerbsException {
    doThrow(reason).when(verbs).queryGidTable(any(), any(), anyLong());
  }

  void withoutGidTable(int tableLength) {
    gidCount = -1;
    IbvPortAttr.GID_TBL_LEN.set(portAttr, tableLength);
  }

  void failOpen(VerbsException reason) throws VerbsException {
    doThrow(reason).when(verbs).openDevice(any());
  }

  void failQuery(VerbsException reason) throws VerbsException {
    doThrow(reason).when(verbs).queryDevice(any(), any());
  }

  @Override
  public void close() {
    arena.close();
  }
}
