package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.verbatim.device.DeviceLimits;
import dev.verbatim.verbs.AsyncEventType;
import dev.verbatim.verbs.CmEventType;
import dev.verbatim.verbs.IbvAsyncEvent;
import dev.verbatim.verbs.IbvCompChannel;
import dev.verbatim.verbs.IbvContext;
import dev.verbatim.verbs.IbvCq;
import dev.verbatim.verbs.IbvDevice;
import dev.verbatim.verbs.IbvPd;
import dev.verbatim.verbs.IbvPortAttr;
import dev.verbatim.verbs.IbvQp;
import dev.verbatim.verbs.IbvSendWr;
import dev.verbatim.verbs.IbvSge;
import dev.verbatim.verbs.IbvWc;
import dev.verbatim.verbs.NativeLibraries;
import dev.verbatim.verbs.Pollfd;
import dev.verbatim.verbs.PortState;
import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import dev.verbatim.verbs.RdmaCm;
import dev.verbatim.verbs.RdmaCmEvent;
import dev.verbatim.verbs.RdmaCmId;
import dev.verbatim.verbs.RdmaConnParam;
import dev.verbatim.verbs.RdmaEventChannel;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import dev.verbatim.verbs.WcStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.mockito.stubbing.Answer;

/**
 * A device, a connection manager and the transport's parts on them, with no thread: a test says
 * what the device tells next and lets each part do one round.
 */
final class Fabric {
  /** A work request as the device got it. */
  record Posted(long id, long iova, int rkey, long address, int length, boolean signalled) {}

  static final InetSocketAddress OWN = new InetSocketAddress("10.77.0.1", 4000);
  static final long OWN_CHALLENGE = 11;
  static final PeerAddress SELF = new PeerAddress("own", OWN, OWN_CHALLENGE);
  static final PeerAddress PEER =
      new PeerAddress("peer", new InetSocketAddress("10.77.0.2", 4001), 12);

  final Arena arena = Arena.ofAuto();
  final Verbs verbs = mock(Verbs.class);
  final RdmaCm rdmaCm = mock(RdmaCm.class);
  final Posix posix = mock(Posix.class);
  final MemorySegment context = context();
  final MemorySegment channel = RdmaEventChannel.STRUCT.allocate(arena);
  final List<Posted> posted = new ArrayList<>();
  final List<Integer> doorbells = new ArrayList<>();
  final List<MemorySegment> ids = new ArrayList<>();
  final List<Long> destroyedQueuePairs = new ArrayList<>();
  final List<Long> destroyedIds = new ArrayList<>();
  byte[] request;

  /** What the device answers when it is asked; independent of events. */
  PortState portState = PortState.ACTIVE;

  /** What the next call of a function throws: disconnect, destroyQp, destroyId, queryPort. */
  final Map<String, Error> errors = new HashMap<>();

  private final Deque<MemorySegment> cmEvents = new ArrayDeque<>();
  private final Deque<MemorySegment> asyncEvents = new ArrayDeque<>();
  private final Deque<long[]> completions = new ArrayDeque<>();

  final Counters counters = new Counters();
  final TransportConfig config;
  final OpenPort port;
  final BufferPool pool = Buffers.pool(1 << 20);
  final SendQueueTable<PeerConnection> table;
  final EventLoop loop;
  final CompletionPoller poller;
  final PortMonitor monitor;
  final CmEndpoints endpoints;
  final Connector connector;
  final Acceptor acceptor;
  final List<String> actions = new ArrayList<>();

  Fabric(TransportConfig config) throws VerbsException {
    this(config, 10_000);
  }

  Fabric(TransportConfig config, int maxQpWr) throws VerbsException {
    this.config = config.localName("own");
    stubVerbs();
    stubConnectionManager();
    stubPosix();
    DeviceLimits limits =
        new DeviceLimits(100, maxQpWr, 32, 32, 10, 10_000, 10, 1L << 40, 10, 16, 16, 1000, true);
    QueueLimits queueLimits = QueueLimits.of(config, limits, 1 << 30);
    port = OpenPort.open(new NativeLibraries.Loaded(verbs, rdmaCm, posix), context, 1, queueLimits);
    table = new SendQueueTable<>(queueLimits.maxConnections());
    loop = new EventLoop(posix, arena);
    poller =
        new CompletionPoller(
            verbs,
            posix,
            port.channel(),
            port.completionQueue(),
            table,
            Duration.ZERO,
            config.readTimeout(),
            this::fail,
            arena);
    monitor = new PortMonitor(port, counters, new Actions(), arena);
    endpoints = new CmEndpoints(rdmaCm, channel, counters, monitor);
    Handshake handshake = new Handshake(config.applicationToken(), "own", OWN_CHALLENGE);
    connector =
        new Connector(
            config, port, loop, poller, endpoints, table, handshake, pool, counters, monitor, OWN);
    acceptor = new Acceptor(config, port, endpoints, table, handshake, counters, monitor);
    loop.watch(3, endpoints::drain, _ -> {});
    loop.watch(4, monitor::drainPortEvents, monitor::fail);
    loop.every(connector::tick);
    loop.every(acceptor::tick);
    loop.every(endpoints::tick);
  }

  private void fail(String why) {
    loop.execute(() -> monitor.fail(why));
  }

  private final class Actions implements PortMonitor.Actions {
    @Override
    public void portDown(ReadFailure.Kind kind, String why) {
      actions.add("down");
      connector.failAll(kind, why);
      acceptor.closeAll();
    }

    @Override
    public void portUp() {
      actions.add("up");
      endpoints.destroyParked();
      connector.portUp();
    }

    @Override
    public void addressChanged() {
      actions.add("address");
    }

    @Override
    public void queuePairFailed(long address, String why) {
      actions.add("queue pair " + address);
    }

    @Override
    public boolean ownsCompletionQueue(long address) {
      return false;
    }
  }

  private MemorySegment context() {
    MemorySegment segment = IbvContext.STRUCT.allocate(arena);
    IbvContext.DEVICE.set(segment, IbvDevice.STRUCT.allocate(arena));
    IbvContext.NUM_COMP_VECTORS.set(segment, 4);
    return segment;
  }

  private void stubVerbs() throws VerbsException {
    when(verbs.openDevice(any())).thenReturn(context());
    when(verbs.allocPd(any())).thenReturn(IbvPd.STRUCT.allocate(arena));
    when(verbs.createCompChannel(any())).thenReturn(IbvCompChannel.STRUCT.allocate(arena));
    when(verbs.createCq(any(), anyInt(), any(), any(), anyInt()))
        .thenReturn(IbvCq.STRUCT.allocate(arena));
    doAnswer(call -> record(call.getArgument(1))).when(verbs).postSend(any(), any(), any());
    when(verbs.pollCq(any(), anyInt(), any())).thenAnswer(call -> poll(call.getArgument(2)));
    doAnswer(
            call -> {
              throwIfTold("queryPort");
              IbvPortAttr.STATE.set(call.getArgument(2), portState.number());
              return null;
            })
        .when(verbs)
        .queryPort(any(), anyInt(), any());
    when(verbs.getCqEvent(any(), any(), any())).thenReturn(false);
    doAnswer(call -> null).when(verbs).reqNotifyCq(any(), anyBoolean());
    when(verbs.getAsyncEvent(any(), any()))
        .thenAnswer(
            call -> {
              MemorySegment next = asyncEvents.poll();
              if (next != null) {
                call.<MemorySegment>getArgument(1).copyFrom(next);
              }
              return next != null;
            });
  }

  private Object record(MemorySegment first) {
    int count = 0;
    MemorySegment next = first;
    while (next.address() != 0) {
      MemorySegment request = IbvSendWr.STRUCT.at(next);
      MemorySegment sge = IbvSge.STRUCT.at(IbvSendWr.SG_LIST.get(request));
      posted.add(
          new Posted(
              IbvSendWr.WR_ID.get(request),
              IbvSendWr.WR_RDMA_REMOTE_ADDR.get(request),
              IbvSendWr.WR_RDMA_RKEY.get(request),
              IbvSge.ADDR.get(sge),
              IbvSge.LENGTH.get(sge),
              (IbvSendWr.SEND_FLAGS.get(request) & VerbsConstants.IBV_SEND_SIGNALED) != 0));
      count++;
      next = IbvSendWr.NEXT.get(request);
    }
    doorbells.add(count);
    return null;
  }

  private int poll(MemorySegment wc) {
    int count = 0;
    while (!completions.isEmpty() && count < 64) {
      long[] next = completions.remove();
      IbvWc.WR_ID.set(wc, count, next[0]);
      IbvWc.STATUS.set(wc, count, (int) next[1]);
      count++;
    }
    return count;
  }

  private void stubConnectionManager() throws VerbsException {
    when(rdmaCm.createId(any(), any(), anyInt())).thenAnswer(call -> newId());
    doAnswer(
            call -> {
              MemorySegment qp = IbvQp.STRUCT.allocate(arena);
              RdmaCmId.QP.set(call.<MemorySegment>getArgument(0), qp);
              return null;
            })
        .when(rdmaCm)
        .createQp(any(), any(), any());
    doAnswer(
            call -> {
              throwIfTold("destroyQp");
              MemorySegment id = call.getArgument(0);
              destroyedQueuePairs.add(RdmaCmId.QP.getAddress(id));
              return null;
            })
        .when(rdmaCm)
        .destroyQp(any());
    doAnswer(
            call -> {
              throwIfTold("destroyId");
              destroyedIds.add(call.<MemorySegment>getArgument(0).address());
              return null;
            })
        .when(rdmaCm)
        .destroyId(any());
    doAnswer(
            call -> {
              throwIfTold("disconnect");
              return null;
            })
        .when(rdmaCm)
        .disconnect(any());
    Answer<Object> keepRequest =
        call -> {
          MemorySegment param = call.getArgument(1);
          int length = RdmaConnParam.PRIVATE_DATA_LEN.get(param) & 0xff;
          request =
              RdmaConnParam.PRIVATE_DATA
                  .get(param)
                  .reinterpret(length)
                  .toArray(ValueLayout.JAVA_BYTE);
          return null;
        };
    doAnswer(keepRequest).when(rdmaCm).connect(any(), any());
    doAnswer(keepRequest).when(rdmaCm).accept(any(), any());
    when(rdmaCm.getCmEvent(any()))
        .thenAnswer(call -> cmEvents.isEmpty() ? MemorySegment.NULL : cmEvents.remove());
  }

  private void throwIfTold(String function) {
    Error error = errors.remove(function);
    if (error != null) {
      throw error;
    }
  }

  MemorySegment newId() {
    MemorySegment id = RdmaCmId.STRUCT.allocate(arena);
    RdmaCmId.VERBS.set(id, context);
    ids.add(id);
    return id;
  }

  private void stubPosix() throws VerbsException {
    when(posix.poll(any(), anyInt(), anyInt()))
        .thenAnswer(
            call -> {
              MemorySegment fds = call.getArgument(0);
              int count = call.getArgument(1);
              for (int i = 0; i < count; i++) {
                Pollfd.REVENTS.set(fds, i, (short) PosixConstants.POLLIN);
              }
              return count;
            });
    when(posix.mmap(anyLong(), anyInt(), anyInt(), anyInt(), anyLong()))
        .thenAnswer(call -> Arena.global().allocate(call.<Long>getArgument(0), 4096));
  }

  /** One round of the event thread, then what it gave to the poller. */
  void step() throws VerbsException {
    loop.doWork();
    loop.doWork();
    poller.doWork();
  }

  void cmEvent(CmEventType type, MemorySegment id, int status, byte[] privateData) {
    cmEvent(type, id, MemorySegment.NULL, status, privateData, 16);
  }

  void cmEvent(
      CmEventType type,
      MemorySegment id,
      MemorySegment listener,
      int status,
      byte[] privateData,
      int depth) {
    MemorySegment event = RdmaCmEvent.STRUCT.allocate(arena);
    RdmaCmEvent.ID.set(event, id);
    RdmaCmEvent.LISTEN_ID.set(event, listener);
    RdmaCmEvent.EVENT.set(event, type.number());
    RdmaCmEvent.STATUS.set(event, status);
    MemorySegment data = arena.allocate(Math.max(1, privateData.length));
    data.asSlice(0, privateData.length).copyFrom(MemorySegment.ofArray(privateData));
    RdmaCmEvent.PRIVATE_DATA.set(event, data);
    RdmaCmEvent.PRIVATE_DATA_LEN.set(event, (byte) privateData.length);
    RdmaCmEvent.RESPONDER_RESOURCES.set(event, (byte) depth);
    RdmaCmEvent.INITIATOR_DEPTH.set(event, (byte) 1);
    cmEvents.add(event);
  }

  void asyncEvent(AsyncEventType type, int portNumber) {
    MemorySegment event = IbvAsyncEvent.STRUCT.allocate(arena);
    IbvAsyncEvent.EVENT_TYPE.set(event, type.number());
    IbvAsyncEvent.ELEMENT_PORT_NUM.set(event, portNumber);
    asyncEvents.add(event);
  }

  void complete(int index, WcStatus status) {
    completions.add(new long[] {posted.get(index).id(), status.number()});
  }

  /** Takes a connect of the given identifier through all its steps. */
  void establish(MemorySegment id) throws VerbsException {
    cmEvent(CmEventType.ADDR_RESOLVED, id, 0, new byte[0]);
    step();
    cmEvent(CmEventType.ROUTE_RESOLVED, id, 0, new byte[0]);
    step();
    cmEvent(CmEventType.ESTABLISHED, id, 0, answer());
    step();
  }

  /** What the peer would answer to the last request. */
  byte[] answer() {
    Handshake peer = new Handshake(config.applicationToken(), PEER.name(), PEER.challenge());
    Handshake.Checked checked = peer.check(request);
    return peer.accept(checked.request(), checked.request().readDepth());
  }

  PeerConnection connected() throws Exception {
    var future = connector.connect(PEER);
    step();
    for (MemorySegment id : List.copyOf(ids)) {
      establish(id);
    }
    return future.getNow(null);
  }

  /** Posts one READ of 8 bytes, of whose end the answer is told. */
  RecordingListener read(PeerConnection connection) {
    ReadBuffer buffer = pool.tryAcquire(8).orElseThrow();
    RecordingListener listener = new RecordingListener();
    connection.read(new ReadBatch(listener).add(1, 2, buffer, 0, 8));
    buffer.release();
    return listener;
  }

  /** No connection is left, nor anything of one that was tried. */
  void assertNothingHeld() {
    assertEquals(0, counters.queuePairs.get());
    assertEquals(0, table.inUse());
    assertEquals(0, endpoints.size());
    assertEquals(ids.size(), destroyedIds.size());
  }
}
