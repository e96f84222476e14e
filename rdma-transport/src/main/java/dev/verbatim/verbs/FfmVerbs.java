package dev.verbatim.verbs;

import static dev.verbatim.verbs.NativeCall.hex;
import static dev.verbatim.verbs.NativeCall.nonNull;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.verbatim.verbs.Symbols.MissingFunction;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;
import java.util.Optional;

/** {@link Verbs} by the foreign function API. */
final class FfmVerbs implements Verbs {
  private final MethodHandle getDeviceList;
  private final MethodHandle freeDeviceList;
  private final MethodHandle getDeviceName;
  private final MethodHandle getDeviceGuid;
  private final MethodHandle openDevice;
  private final MethodHandle closeDevice;
  private final MethodHandle queryDevice;
  private final MethodHandle queryPort;
  private final MethodHandle queryGid;
  private final Optional<MethodHandle> queryGidTable;
  private final MethodHandle allocPd;
  private final MethodHandle deallocPd;
  private final MethodHandle regMr;
  private final MethodHandle regMrIova;
  private final MethodHandle deregMr;
  private final MethodHandle createCompChannel;
  private final MethodHandle destroyCompChannel;
  private final MethodHandle createCq;
  private final MethodHandle destroyCq;
  private final MethodHandle getCqEvent;
  private final MethodHandle ackCqEvents;
  private final MethodHandle createQp;
  private final MethodHandle modifyQp;
  private final MethodHandle queryQp;
  private final MethodHandle destroyQp;
  private final MethodHandle getAsyncEvent;
  private final MethodHandle ackAsyncEvent;
  private final DataPath dataPath = new DataPath();

  FfmVerbs(Symbols library) throws MissingFunction {
    FunctionDescriptor intOfPointer = FunctionDescriptor.of(JAVA_INT, ADDRESS);
    FunctionDescriptor intOf2Pointers = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS);
    FunctionDescriptor pointerOfPointer = FunctionDescriptor.of(ADDRESS, ADDRESS);
    FunctionDescriptor voidOfPointer = FunctionDescriptor.ofVoid(ADDRESS);

    getDeviceList = library.bind("ibv_get_device_list", pointerOfPointer);
    freeDeviceList = library.bind("ibv_free_device_list", voidOfPointer);
    getDeviceName = library.bind("ibv_get_device_name", pointerOfPointer);
    getDeviceGuid = library.bind("ibv_get_device_guid", FunctionDescriptor.of(JAVA_LONG, ADDRESS));
    openDevice = library.bind("ibv_open_device", pointerOfPointer);
    closeDevice = library.bind("ibv_close_device", intOfPointer);
    queryDevice = library.bind("ibv_query_device", intOf2Pointers);
    queryPort =
        library.bind(
            "ibv_query_port", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BYTE, ADDRESS));
    queryGid =
        library.bind(
            "ibv_query_gid",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BYTE, JAVA_INT, ADDRESS));
    queryGidTable =
        library.bindOptional(
            "_ibv_query_gid_table",
            FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG));
    allocPd = library.bind("ibv_alloc_pd", pointerOfPointer);
    deallocPd = library.bind("ibv_dealloc_pd", intOfPointer);
    regMr =
        library.bind(
            "ibv_reg_mr", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT));
    regMrIova =
        library.bind(
            "ibv_reg_mr_iova",
            FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_INT));
    deregMr = library.bind("ibv_dereg_mr", intOfPointer);
    createCompChannel = library.bind("ibv_create_comp_channel", pointerOfPointer);
    destroyCompChannel = library.bind("ibv_destroy_comp_channel", intOfPointer);
    createCq =
        library.bind(
            "ibv_create_cq",
            FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
    destroyCq = library.bind("ibv_destroy_cq", intOfPointer);
    getCqEvent =
        library.bind(
            "ibv_get_cq_event", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
    ackCqEvents = library.bind("ibv_ack_cq_events", FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT));
    createQp = library.bind("ibv_create_qp", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));
    modifyQp =
        library.bind("ibv_modify_qp", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
    queryQp =
        library.bind(
            "ibv_query_qp", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, ADDRESS));
    destroyQp = library.bind("ibv_destroy_qp", intOfPointer);
    getAsyncEvent = library.bind("ibv_get_async_event", intOf2Pointers);
    ackAsyncEvent = library.bind("ibv_ack_async_event", voidOfPointer);
  }

  @Override
  public MemorySegment getDeviceList(MemorySegment count) throws VerbsException {
    MemorySegment list =
        NativeCall.pointer(
            "ibv_get_device_list",
            errno -> (MemorySegment) getDeviceList.invokeExact(errno, count),
            () -> "");
    return list.reinterpret(ADDRESS.byteSize() * count.get(JAVA_INT, 0));
  }

  @Override
  public void freeDeviceList(MemorySegment list) {
    nonNull(list, "device list");
    NativeCall.run(
        errno -> {
          freeDeviceList.invokeExact(errno, list);
        });
  }

  @Override
  public String getDeviceName(MemorySegment device) {
    nonNull(device, "device");
    MemorySegment name =
        NativeCall.plain(errno -> (MemorySegment) getDeviceName.invokeExact(errno, device));
    return nonNull(name, "device name").reinterpret(IbvDevice.NAME.length()).getString(0);
  }

  @Override
  public long getDeviceGuid(MemorySegment device) {
    nonNull(device, "device");
    long bigEndian = NativeCall.plain(errno -> (long) getDeviceGuid.invokeExact(errno, device));
    return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
        ? bigEndian
        : Long.reverseBytes(bigEndian);
  }

  @Override
  public MemorySegment openDevice(MemorySegment device) throws VerbsException {
    nonNull(device, "device");
    return IbvContext.STRUCT.at(
        NativeCall.pointer(
            "ibv_open_device",
            errno -> (MemorySegment) openDevice.invokeExact(errno, device),
            () -> getDeviceName(device)));
  }

  @Override
  public void closeDevice(MemorySegment context) throws VerbsException {
    nonNull(context, "context");
    NativeCall.check(
        "ibv_close_device", errno -> (int) closeDevice.invokeExact(errno, context), () -> "");
  }

  @Override
  public void queryDevice(MemorySegment context, MemorySegment deviceAttr) throws VerbsException {
    nonNull(context, "context");
    NativeCall.check(
        "ibv_query_device",
        errno -> (int) queryDevice.invokeExact(errno, context, deviceAttr),
        () -> "");
  }

  @Override
  public void queryPort(MemorySegment context, int port, MemorySegment portAttr)
      throws VerbsException {
    nonNull(context, "context");
    portAttr.fill((byte) 0);
    MemorySegment extended = VerbsContext.queryPort(context);
    NativeCall.check(
        "ibv_query_port",
        errno ->
            extended.address() == 0
                ? (int) queryPort.invokeExact(errno, context, (byte) port, portAttr)
                : (int)
                    VerbsContext.QUERY_PORT.invokeExact(
                        extended, errno, context, (byte) port, portAttr, portAttr.byteSize()),
        () -> "port=" + port);
  }

  @Override
  public void queryGid(MemorySegment context, int port, int index, MemorySegment gid)
      throws VerbsException {
    nonNull(context, "context");
    NativeCall.check(
        "ibv_query_gid",
        errno -> (int) queryGid.invokeExact(errno, context, (byte) port, index, gid),
        () -> "port=" + port + ", index=" + index);
  }

  @Override
  public long queryGidTable(MemorySegment context, MemorySegment entries, long max)
      throws VerbsException {
    nonNull(context, "context");
    if (queryGidTable.isEmpty()) {
      return -1;
    }
    MethodHandle function = queryGidTable.get();
    long size = IbvGidEntry.STRUCT.size();
    long count =
        NativeCall.plain(
            errno -> (long) function.invokeExact(errno, context, entries, max, 0, size));
    if (count == -Errno.EOPNOTSUPP || count == -Errno.ENOSYS) {
      return -1;
    }
    if (count < 0) {
      throw new VerbsException("ibv_query_gid_table", (int) -count, "max=" + max);
    }
    return count;
  }

  @Override
  public MemorySegment allocPd(MemorySegment context) throws VerbsException {
    nonNull(context, "context");
    return IbvPd.STRUCT.at(
        NativeCall.pointer(
            "ibv_alloc_pd",
            errno -> (MemorySegment) allocPd.invokeExact(errno, context),
            () -> ""));
  }

  @Override
  public void deallocPd(MemorySegment pd) throws VerbsException {
    nonNull(pd, "pd");
    NativeCall.check("ibv_dealloc_pd", errno -> (int) deallocPd.invokeExact(errno, pd), () -> "");
  }

  @Override
  public MemorySegment regMr(MemorySegment pd, MemorySegment address, long length, int access)
      throws VerbsException {
    nonNull(pd, "pd");
    return IbvMr.STRUCT.at(
        NativeCall.pointer(
            "ibv_reg_mr",
            errno -> (MemorySegment) regMr.invokeExact(errno, pd, address, length, access),
            () -> "address=" + hex(address.address()) + ", length=" + length + flags(access)));
  }

  @Override
  public MemorySegment regMrIova(
      MemorySegment pd, MemorySegment address, long length, long iova, int access)
      throws VerbsException {
    nonNull(pd, "pd");
    // The iova stays out of the message: it is a secret that permits reading.
    return IbvMr.STRUCT.at(
        NativeCall.pointer(
            "ibv_reg_mr_iova",
            errno ->
                (MemorySegment) regMrIova.invokeExact(errno, pd, address, length, iova, access),
            () -> "address=" + hex(address.address()) + ", length=" + length + flags(access)));
  }

  private static String flags(int access) {
    return ", access=" + hex(access);
  }

  @Override
  public void deregMr(MemorySegment mr) throws VerbsException {
    nonNull(mr, "mr");
    NativeCall.check("ibv_dereg_mr", errno -> (int) deregMr.invokeExact(errno, mr), () -> "");
  }

  @Override
  public MemorySegment createCompChannel(MemorySegment context) throws VerbsException {
    nonNull(context, "context");
    return IbvCompChannel.STRUCT.at(
        NativeCall.pointer(
            "ibv_create_comp_channel",
            errno -> (MemorySegment) createCompChannel.invokeExact(errno, context),
            () -> ""));
  }

  @Override
  public void destroyCompChannel(MemorySegment channel) throws VerbsException {
    nonNull(channel, "channel");
    NativeCall.check(
        "ibv_destroy_comp_channel",
        errno -> (int) destroyCompChannel.invokeExact(errno, channel),
        () -> "");
  }

  @Override
  public MemorySegment createCq(
      MemorySegment context,
      int entries,
      MemorySegment cqContext,
      MemorySegment channel,
      int compVector)
      throws VerbsException {
    nonNull(context, "context");
    return IbvCq.STRUCT.at(
        NativeCall.pointer(
            "ibv_create_cq",
            errno ->
                (MemorySegment)
                    createCq.invokeExact(errno, context, entries, cqContext, channel, compVector),
            () -> "entries=" + entries + ", compVector=" + compVector));
  }

  @Override
  public void destroyCq(MemorySegment cq) throws VerbsException {
    nonNull(cq, "cq");
    NativeCall.check("ibv_destroy_cq", errno -> (int) destroyCq.invokeExact(errno, cq), () -> "");
  }

  @Override
  public void reqNotifyCq(MemorySegment cq, boolean solicitedOnly) throws VerbsException {
    dataPath.reqNotifyCq(cq, solicitedOnly);
  }

  @Override
  public boolean getCqEvent(MemorySegment channel, MemorySegment cq, MemorySegment cqContext)
      throws VerbsException {
    nonNull(channel, "channel");
    return NativeCall.gotOne(
        "ibv_get_cq_event", errno -> (int) getCqEvent.invokeExact(errno, channel, cq, cqContext));
  }

  @Override
  public void ackCqEvents(MemorySegment cq, int count) {
    nonNull(cq, "cq");
    NativeCall.run(
        errno -> {
          ackCqEvents.invokeExact(errno, cq, count);
        });
  }

  @Override
  public int pollCq(MemorySegment cq, int max, MemorySegment wc) throws VerbsException {
    return dataPath.pollCq(cq, max, wc);
  }

  @Override
  public MemorySegment createQp(MemorySegment pd, MemorySegment initAttr) throws VerbsException {
    nonNull(pd, "pd");
    return IbvQp.STRUCT.at(
        NativeCall.pointer(
            "ibv_create_qp",
            errno -> (MemorySegment) createQp.invokeExact(errno, pd, initAttr),
            () -> IbvQpInitAttr.describe(initAttr)));
  }

  @Override
  public void modifyQp(MemorySegment qp, MemorySegment attr, int mask) throws VerbsException {
    nonNull(qp, "qp");
    NativeCall.check(
        "ibv_modify_qp",
        errno -> (int) modifyQp.invokeExact(errno, qp, attr, mask),
        () -> "state=" + QpState.of(IbvQpAttr.QP_STATE.get(attr)) + ", mask=" + hex(mask));
  }

  @Override
  public void queryQp(MemorySegment qp, MemorySegment attr, int mask, MemorySegment initAttr)
      throws VerbsException {
    nonNull(qp, "qp");
    NativeCall.check(
        "ibv_query_qp",
        errno -> (int) queryQp.invokeExact(errno, qp, attr, mask, initAttr),
        () -> "mask=" + hex(mask));
  }

  @Override
  public void destroyQp(MemorySegment qp) throws VerbsException {
    nonNull(qp, "qp");
    NativeCall.check("ibv_destroy_qp", errno -> (int) destroyQp.invokeExact(errno, qp), () -> "");
  }

  @Override
  public void postSend(MemorySegment qp, MemorySegment wr, MemorySegment badWr)
      throws VerbsException {
    dataPath.postSend(qp, wr, badWr);
  }

  @Override
  public void postRecv(MemorySegment qp, MemorySegment wr, MemorySegment badWr)
      throws VerbsException {
    dataPath.postRecv(qp, wr, badWr);
  }

  @Override
  public boolean getAsyncEvent(MemorySegment context, MemorySegment event) throws VerbsException {
    nonNull(context, "context");
    return NativeCall.gotOne(
        "ibv_get_async_event", errno -> (int) getAsyncEvent.invokeExact(errno, context, event));
  }

  @Override
  public void ackAsyncEvent(MemorySegment event) {
    nonNull(event, "event");
    NativeCall.run(
        errno -> {
          ackAsyncEvent.invokeExact(errno, event);
        });
  }
}
