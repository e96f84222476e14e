package dev.verbatim.verbs;

import static dev.verbatim.verbs.NativeCall.nonNull;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.verbatim.verbs.Symbols.MissingFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;

/** {@link RdmaCm} by the foreign function API. */
final class FfmRdmaCm implements RdmaCm {
  private final MethodHandle createEventChannel;
  private final MethodHandle destroyEventChannel;
  private final MethodHandle createId;
  private final MethodHandle destroyId;
  private final MethodHandle bindAddr;
  private final MethodHandle resolveAddr;
  private final MethodHandle resolveRoute;
  private final MethodHandle createQp;
  private final MethodHandle destroyQp;
  private final MethodHandle listen;
  private final MethodHandle connect;
  private final MethodHandle accept;
  private final MethodHandle reject;
  private final MethodHandle disconnect;
  private final MethodHandle getCmEvent;
  private final MethodHandle ackCmEvent;
  private final MethodHandle setOption;
  private final MethodHandle migrateId;
  private final MethodHandle getSrcPort;
  private final MethodHandle getDstPort;
  private final MethodHandle getDevices;
  private final MethodHandle freeDevices;

  FfmRdmaCm(Symbols library) throws MissingFunction {
    FunctionDescriptor intOfPointer = FunctionDescriptor.of(JAVA_INT, ADDRESS);
    FunctionDescriptor intOf2Pointers = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS);
    FunctionDescriptor intOf3Pointers = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
    FunctionDescriptor intOfPointerAndInt = FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT);
    FunctionDescriptor shortOfPointer = FunctionDescriptor.of(JAVA_SHORT, ADDRESS);
    FunctionDescriptor voidOfPointer = FunctionDescriptor.ofVoid(ADDRESS);

    createEventChannel = library.bind("rdma_create_event_channel", FunctionDescriptor.of(ADDRESS));
    destroyEventChannel = library.bind("rdma_destroy_event_channel", voidOfPointer);
    createId =
        library.bind(
            "rdma_create_id", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_INT));
    destroyId = library.bind("rdma_destroy_id", intOfPointer);
    bindAddr = library.bind("rdma_bind_addr", intOf2Pointers);
    resolveAddr =
        library.bind(
            "rdma_resolve_addr",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_INT));
    resolveRoute = library.bind("rdma_resolve_route", intOfPointerAndInt);
    createQp = library.bind("rdma_create_qp", intOf3Pointers);
    destroyQp = library.bind("rdma_destroy_qp", voidOfPointer);
    listen = library.bind("rdma_listen", intOfPointerAndInt);
    connect = library.bind("rdma_connect", intOf2Pointers);
    accept = library.bind("rdma_accept", intOf2Pointers);
    reject =
        library.bind("rdma_reject", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_BYTE));
    disconnect = library.bind("rdma_disconnect", intOfPointer);
    getCmEvent = library.bind("rdma_get_cm_event", intOf2Pointers);
    ackCmEvent = library.bind("rdma_ack_cm_event", intOfPointer);
    setOption =
        library.bind(
            "rdma_set_option",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG));
    migrateId = library.bind("rdma_migrate_id", intOf2Pointers);
    getSrcPort = library.bind("rdma_get_src_port", shortOfPointer);
    getDstPort = library.bind("rdma_get_dst_port", shortOfPointer);
    getDevices = library.bind("rdma_get_devices", FunctionDescriptor.of(ADDRESS, ADDRESS));
    freeDevices = library.bind("rdma_free_devices", voidOfPointer);
  }

  @Override
  public MemorySegment createEventChannel() throws VerbsException {
    return RdmaEventChannel.STRUCT.at(
        NativeCall.pointer(
            "rdma_create_event_channel",
            errno -> (MemorySegment) createEventChannel.invokeExact(errno),
            () -> ""));
  }

  @Override
  public void destroyEventChannel(MemorySegment channel) {
    nonNull(channel, "channel");
    NativeCall.run(
        errno -> {
          destroyEventChannel.invokeExact(errno, channel);
        });
  }

  @Override
  public MemorySegment createId(MemorySegment channel, MemorySegment context, int portSpace)
      throws VerbsException {
    nonNull(channel, "channel");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment id = arena.allocate(ADDRESS);
      NativeCall.check(
          "rdma_create_id",
          errno -> (int) createId.invokeExact(errno, channel, id, context, portSpace),
          () -> "portSpace=" + NativeCall.hex(portSpace));
      return RdmaCmId.STRUCT.at(id.get(ADDRESS, 0));
    }
  }

  @Override
  public void destroyId(MemorySegment id) throws VerbsException {
    nonNull(id, "id");
    NativeCall.check("rdma_destroy_id", errno -> (int) destroyId.invokeExact(errno, id), () -> "");
  }

  @Override
  public void bindAddr(MemorySegment id, MemorySegment address) throws VerbsException {
    nonNull(id, "id");
    NativeCall.check(
        "rdma_bind_addr",
        errno -> (int) bindAddr.invokeExact(errno, id, address),
        () -> Sockaddr.describe(address));
  }

  @Override
  public void resolveAddr(
      MemorySegment id, MemorySegment source, MemorySegment destination, int timeoutMillis)
      throws VerbsException {
    nonNull(id, "id");
    NativeCall.check(
        "rdma_resolve_addr",
        errno -> (int) resolveAddr.invokeExact(errno, id, source, destination, timeoutMillis),
        () -> Sockaddr.describe(source) + " to " + Sockaddr.describe(destination));
  }

  @Override
  public void resolveRoute(MemorySegment id, int timeoutMillis) throws VerbsException {
    nonNull(id, "id");
    NativeCall.check(
        "rdma_resolve_route",
        errno -> (int) resolveRoute.invokeExact(errno, id, timeoutMillis),
        () -> peer(id));
  }

  @Override
  public void createQp(MemorySegment id, MemorySegment pd, MemorySegment initAttr)
      throws VerbsException {
    nonNull(id, "id");
    NativeCall.check(
        "rdma_create_qp",
        errno -> (int) createQp.invokeExact(errno, id, pd, initAttr),
        () -> IbvQpInitAttr.describe(initAttr));
  }

  @Override
  public void destroyQp(MemorySegment id) {
    nonNull(id, "id");
    NativeCall.run(
        errno -> {
          destroyQp.invokeExact(errno, id);
        });
  }

  @Override
  public void listen(MemorySegment id, int backlog) throws VerbsException {
    nonNull(id, "id");
    NativeCall.check(
        "rdma_listen",
        errno -> (int) listen.invokeExact(errno, id, backlog),
        () -> "backlog=" + backlog);
  }

  @Override
  public void connect(MemorySegment id, MemorySegment connParam) throws VerbsException {
    nonNull(id, "id");
    NativeCall.check(
        "rdma_connect",
        errno -> (int) connect.invokeExact(errno, id, connParam),
        () -> peer(id) + ", " + RdmaConnParam.describe(connParam));
  }

  @Override
  public void accept(MemorySegment id, MemorySegment connParam) throws VerbsException {
    nonNull(id, "id");
    NativeCall.check(
        "rdma_accept",
        errno -> (int) accept.invokeExact(errno, id, connParam),
        () -> peer(id) + ", " + RdmaConnParam.describe(connParam));
  }

  @Override
  public void reject(MemorySegment id, MemorySegment privateData, int length)
      throws VerbsException {
    nonNull(id, "id");
    if (length < 0 || length > 0xff) {
      throw new IllegalArgumentException("private data of " + length + " bytes");
    }
    NativeCall.check(
        "rdma_reject",
        errno -> (int) reject.invokeExact(errno, id, privateData, (byte) length),
        () -> peer(id) + ", length=" + length);
  }

  @Override
  public void disconnect(MemorySegment id) throws VerbsException {
    nonNull(id, "id");
    NativeCall.check(
        "rdma_disconnect", errno -> (int) disconnect.invokeExact(errno, id), () -> peer(id));
  }

  @Override
  public MemorySegment getCmEvent(MemorySegment channel) throws VerbsException {
    nonNull(channel, "channel");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = arena.allocate(ADDRESS);
      boolean got =
          NativeCall.gotOne(
              "rdma_get_cm_event", errno -> (int) getCmEvent.invokeExact(errno, channel, event));
      return got ? RdmaCmEvent.STRUCT.at(event.get(ADDRESS, 0)) : MemorySegment.NULL;
    }
  }

  @Override
  public void ackCmEvent(MemorySegment event) throws VerbsException {
    nonNull(event, "event");
    NativeCall.check(
        "rdma_ack_cm_event", errno -> (int) ackCmEvent.invokeExact(errno, event), () -> "");
  }

  @Override
  public void setOption(MemorySegment id, int level, int name, MemorySegment value, long length)
      throws VerbsException {
    nonNull(id, "id");
    NativeCall.check(
        "rdma_set_option",
        errno -> (int) setOption.invokeExact(errno, id, level, name, value, length),
        () -> "level=" + level + ", name=" + name);
  }

  @Override
  public void migrateId(MemorySegment id, MemorySegment channel) throws VerbsException {
    nonNull(id, "id");
    nonNull(channel, "channel");
    NativeCall.check(
        "rdma_migrate_id",
        errno -> (int) migrateId.invokeExact(errno, id, channel),
        () -> peer(id));
  }

  @Override
  public int getSrcPort(MemorySegment id) {
    nonNull(id, "id");
    return hostOrder(NativeCall.plain(errno -> (short) getSrcPort.invokeExact(errno, id)));
  }

  @Override
  public int getDstPort(MemorySegment id) {
    nonNull(id, "id");
    return hostOrder(NativeCall.plain(errno -> (short) getDstPort.invokeExact(errno, id)));
  }

  @Override
  public MemorySegment getDevices(MemorySegment count) throws VerbsException {
    MemorySegment list =
        NativeCall.pointer(
            "rdma_get_devices",
            errno -> (MemorySegment) getDevices.invokeExact(errno, count),
            () -> "");
    return list.reinterpret(ADDRESS.byteSize() * count.get(JAVA_INT, 0));
  }

  @Override
  public void freeDevices(MemorySegment list) {
    nonNull(list, "device list");
    NativeCall.run(
        errno -> {
          freeDevices.invokeExact(errno, list);
        });
  }

  private static int hostOrder(short bigEndian) {
    return Short.toUnsignedInt(
        ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
            ? bigEndian
            : Short.reverseBytes(bigEndian));
  }

  private static String peer(MemorySegment id) {
    return "peer=" + Sockaddr.describe(RdmaCmId.PEER_ADDR.get(RdmaCmId.STRUCT.at(id)));
  }
}
