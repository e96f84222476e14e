package dev.verbatim.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.verbs.NativeLibraries.Loaded;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** Two connected queue pairs of this process, made with the bare binding on one thread. */
final class LoopbackPair implements AutoCloseable {
  static final int DEPTH = 4;
  static final String GREETING = "a greeting";
  private static final int TIMEOUT_MILLIS = 20_000;

  final Verbs verbs;
  final RdmaCm cm;
  final Posix posix;
  final Arena arena = Arena.ofShared();
  final MemorySegment channel;
  final MemorySegment listener;
  final MemorySegment client;
  final MemorySegment context;
  final MemorySegment pd;
  final MemorySegment compChannel;
  final MemorySegment cq;
  final MemorySegment qp;
  private MemorySegment server;

  LoopbackPair(Loaded libraries, InetAddress address) throws Exception {
    verbs = libraries.verbs();
    cm = libraries.rdmaCm();
    posix = libraries.posix();
    channel = cm.createEventChannel();
    posix.setNonBlocking(RdmaEventChannel.FD.get(channel));

    listener = cm.createId(channel, MemorySegment.NULL, VerbsConstants.RDMA_PS_TCP);
    cm.bindAddr(listener, Sockaddr.allocate(arena, new InetSocketAddress(address, 0)));
    cm.listen(listener, 8);
    InetSocketAddress target = new InetSocketAddress(address, cm.getSrcPort(listener));

    client = cm.createId(channel, MemorySegment.ofAddress(42), VerbsConstants.RDMA_PS_TCP);
    MemorySegment tos = arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) 106);
    cm.setOption(client, VerbsConstants.RDMA_OPTION_ID, VerbsConstants.RDMA_OPTION_ID_TOS, tos, 1);
    cm.resolveAddr(client, MemorySegment.NULL, Sockaddr.allocate(arena, target), TIMEOUT_MILLIS);
    cm.ackCmEvent(await(CmEventType.ADDR_RESOLVED));
    cm.resolveRoute(client, TIMEOUT_MILLIS);
    cm.ackCmEvent(await(CmEventType.ROUTE_RESOLVED));

    context = IbvContext.STRUCT.at(RdmaCmId.VERBS.get(client));
    pd = verbs.allocPd(context);
    compChannel = verbs.createCompChannel(context);
    posix.setNonBlocking(IbvCompChannel.FD.get(compChannel));
    cq = verbs.createCq(context, 64, MemorySegment.ofAddress(7), compChannel, 0);
    cm.createQp(client, pd, initAttr());
    qp = IbvQp.STRUCT.at(RdmaCmId.QP.get(client));

    cm.connect(client, param(GREETING));
    accept();
    // Both sides report it, in either order.
    cm.ackCmEvent(await(CmEventType.ESTABLISHED));
    cm.ackCmEvent(await(CmEventType.ESTABLISHED));
    assertEquals(target, Sockaddr.read(RdmaCmId.PEER_ADDR.get(client)).orElseThrow());
    assertEquals(target.getPort(), cm.getDstPort(client));
  }

  private void accept() throws Exception {
    MemorySegment request = await(CmEventType.CONNECT_REQUEST);
    server = RdmaCmId.STRUCT.at(RdmaCmEvent.ID.get(request));
    assertEquals(listener.address(), RdmaCmEvent.LISTEN_ID.getAddress(request));
    assertEquals(DEPTH, RdmaCmEvent.RESPONDER_RESOURCES.get(request));
    byte[] data =
        RdmaCmEvent.PRIVATE_DATA
            .get(request)
            .reinterpret(RdmaCmEvent.PRIVATE_DATA_LEN.get(request))
            .toArray(ValueLayout.JAVA_BYTE);
    assertEquals(GREETING, new String(data, 0, GREETING.length(), StandardCharsets.UTF_8));
    cm.ackCmEvent(request);
    cm.createQp(server, pd, initAttr());
    cm.accept(server, param("welcome"));
  }

  private MemorySegment initAttr() {
    MemorySegment attr = IbvQpInitAttr.STRUCT.allocate(arena);
    IbvQpInitAttr.SEND_CQ.set(attr, cq);
    IbvQpInitAttr.RECV_CQ.set(attr, cq);
    IbvQpInitAttr.CAP_MAX_SEND_WR.set(attr, 16);
    IbvQpInitAttr.CAP_MAX_RECV_WR.set(attr, 1);
    IbvQpInitAttr.CAP_MAX_SEND_SGE.set(attr, 1);
    IbvQpInitAttr.CAP_MAX_RECV_SGE.set(attr, 1);
    IbvQpInitAttr.QP_TYPE.set(attr, VerbsConstants.IBV_QPT_RC);
    return attr;
  }

  private MemorySegment param(String privateData) {
    MemorySegment param = RdmaConnParam.STRUCT.allocate(arena);
    RdmaConnParam.PRIVATE_DATA.set(param, arena.allocateFrom(privateData));
    RdmaConnParam.PRIVATE_DATA_LEN.set(param, privateData.length());
    RdmaConnParam.INITIATOR_DEPTH.set(param, DEPTH);
    RdmaConnParam.RESPONDER_RESOURCES.set(param, DEPTH);
    RdmaConnParam.RETRY_COUNT.set(param, 6);
    RdmaConnParam.RNR_RETRY_COUNT.set(param, 7);
    return param;
  }

  /** The next event, which must be of a type, within 20 seconds. */
  MemorySegment await(CmEventType expected) throws Exception {
    MemorySegment event = cm.getCmEvent(channel);
    if (event.address() == 0) {
      waitReadable(RdmaEventChannel.FD.get(channel));
      event = cm.getCmEvent(channel);
    }
    CmEventType type = CmEventType.of(RdmaCmEvent.EVENT.get(event));
    assertEquals(expected, type, () -> "status of " + type);
    return event;
  }

  /** Waits for a descriptor to become readable, at most 20 seconds. */
  void waitReadable(int fd) throws Exception {
    MemorySegment fds = Pollfd.STRUCT.allocate(arena);
    Pollfd.FD.set(fds, fd);
    Pollfd.EVENTS.set(fds, PosixConstants.POLLIN);
    assertEquals(1, posix.poll(fds, 1, TIMEOUT_MILLIS), "nothing within 20 s");
  }

  /** Arms the queue, waits for its event, and answers the completions. */
  int awaitCompletions(MemorySegment wc, int max) throws Exception {
    verbs.reqNotifyCq(cq, false);
    int count = verbs.pollCq(cq, max, wc);
    if (count > 0) {
      return count;
    }
    waitReadable(IbvCompChannel.FD.get(compChannel));
    MemorySegment cqOut = arena.allocate(ValueLayout.ADDRESS);
    MemorySegment contextOut = arena.allocate(ValueLayout.ADDRESS);
    if (verbs.getCqEvent(compChannel, cqOut, contextOut)) {
      assertEquals(cq.address(), cqOut.get(ValueLayout.ADDRESS, 0).address());
      assertEquals(7, contextOut.get(ValueLayout.ADDRESS, 0).address());
      verbs.ackCqEvents(cq, 1);
    }
    return verbs.pollCq(cq, max, wc);
  }

  @Override
  public void close() throws VerbsException {
    cm.disconnect(client);
    cm.destroyQp(client);
    cm.destroyQp(server);
    for (MemorySegment e = cm.getCmEvent(channel); e.address() != 0; e = cm.getCmEvent(channel)) {
      cm.ackCmEvent(e);
    }
    cm.destroyId(client);
    cm.destroyId(server);
    cm.destroyId(listener);
    verbs.destroyCq(cq);
    verbs.destroyCompChannel(compChannel);
    verbs.deallocPd(pd);
    cm.destroyEventChannel(channel);
    arena.close();
  }
}
