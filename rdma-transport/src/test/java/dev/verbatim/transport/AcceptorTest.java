package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

import dev.verbatim.verbs.AsyncEventType;
import dev.verbatim.verbs.CmEventType;
import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.IbvContext;
import dev.verbatim.verbs.RdmaCmId;
import dev.verbatim.verbs.RdmaConnParam;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class AcceptorTest {
  private static final byte[] NONE = {};

  private final TransportConfig config =
      new TransportConfig().connectTimeout(Duration.ofMinutes(1));
  private final List<Refusal> refusals = new ArrayList<>();
  private Fabric fabric;
  private Handshake peer;
  private MemorySegment listener;
  private int grantedDepth = -1;

  @BeforeEach
  void listen() throws Exception {
    fabric = new Fabric(config);
    peer = new Handshake(config.applicationToken(), "peer", 3);
    doAnswer(
            call -> {
              byte[] data =
                  call.<MemorySegment>getArgument(1)
                      .reinterpret(call.<Integer>getArgument(2))
                      .toArray(ValueLayout.JAVA_BYTE);
              refusals.add(Handshake.checkRefusal(data));
              return null;
            })
        .when(fabric.rdmaCm)
        .reject(any(), any(), anyInt());
    doAnswer(
            call -> {
              grantedDepth =
                  RdmaConnParam.RESPONDER_RESOURCES.get(call.<MemorySegment>getArgument(1));
              return null;
            })
        .when(fabric.rdmaCm)
        .accept(any(), any());
    fabric.acceptor.listen(MemorySegment.NULL);
    listener = fabric.ids.getFirst();
  }

  private MemorySegment request(byte[] data, int depth) throws Exception {
    MemorySegment id = fabric.newId();
    fabric.cmEvent(CmEventType.CONNECT_REQUEST, id, listener, 0, data, depth);
    fabric.step();
    return id;
  }

  private byte[] good() {
    return peer.request(Fabric.SELF, 16, 0, 1);
  }

  private void assertRefused(Refusal reason) {
    assertEquals(List.of(reason), refusals);
    assertEquals(1L, fabric.counters.snapshot(0, 0, 0, 0).connectsRefused().get(reason.name()));
    assertEquals(0, fabric.counters.queuePairs.get());
    assertEquals(0, fabric.table.inUse());
    assertEquals(1, fabric.endpoints.size(), "the listener alone is left");
  }

  @Test
  void shouldAcceptAPeerOfTheApplicationAndForgetItWhenItGoes() throws Exception {
    MemorySegment id = request(good(), 16);
    fabric.cmEvent(CmEventType.ESTABLISHED, id, 0, NONE);
    fabric.step();
    assertEquals(1, fabric.counters.connectsAccepted.sum());
    assertEquals(1, fabric.counters.queuePairs.get());
    fabric.cmEvent(CmEventType.DISCONNECTED, id, 0, NONE);
    fabric.cmEvent(CmEventType.TIMEWAIT_EXIT, id, 0, NONE);
    fabric.step();
    assertEquals(0, fabric.counters.queuePairs.get());
    assertEquals(0, fabric.table.inUse());
    assertEquals(List.of(id.address()), fabric.destroyedIds);
  }

  /** What the device offers, what the peer wants, what is allowed here: the least of them. */
  @ParameterizedTest
  @CsvSource({"16, 16", "5, 5", "255, 16", "1, 1"})
  void shouldGrantTheLeastDepth(int offered, int expected) throws Exception {
    request(good(), offered);
    assertEquals(expected, grantedDepth);
  }

  @Test
  void shouldRefuseWhenNoReadIsAllowed() throws Exception {
    request(good(), 0);
    assertRefused(Refusal.NO_READ);
  }

  @Test
  void shouldRefuseStrangersForgersAndNoise() throws Exception {
    Handshake stranger = new Handshake(new byte[] {1}, "peer", 3);
    request(stranger.request(Fabric.SELF, 16, 0, 1), 16);
    assertRefused(Refusal.APPLICATION);
    refusals.clear();
    byte[] forged = good();
    forged[50]++;
    request(forged, 16);
    assertRefused(Refusal.PROOF);
    refusals.clear();
    request(new byte[56], 16);
    assertRefused(Refusal.NOT_VERBATIM);
  }

  @Test
  void shouldRefuseReplayedAndTruncatedRequestsAndThoseForAnotherProcess() throws Exception {
    byte[] captured = good();
    MemorySegment first = request(captured, 16);
    fabric.cmEvent(CmEventType.DISCONNECTED, first, 0, NONE);
    fabric.step();
    request(captured, 16);
    assertRefused(Refusal.REPLAY);
    refusals.clear();
    request(java.util.Arrays.copyOf(good(), 55), 16);
    assertRefused(Refusal.NOT_VERBATIM);
    refusals.clear();
    PeerAddress before = new PeerAddress("own", Fabric.OWN, Fabric.OWN_CHALLENGE - 1);
    request(peer.request(before, 16, 0, 1), 16);
    assertRefused(Refusal.WRONG_PEER);
    refusals.clear();
    byte[] otherVersion = good();
    otherVersion[4]++;
    request(otherVersion, 16);
    assertRefused(Refusal.VERSION);
  }

  /** What the peer has connected stays connected when its request comes a second time. */
  @Test
  void shouldKeepTheQueuePairWhenItsRequestIsReplayed() throws Exception {
    byte[] captured = good();
    request(captured, 16);
    request(captured, 16);
    assertEquals(List.of(Refusal.REPLAY), refusals);
    assertEquals(1, fabric.counters.queuePairs.get());
  }

  @Test
  void shouldGoOnWithOtherWorkDuringAFloodOfBadRequests() throws Exception {
    int flood = 10_000;
    for (int i = 0; i < flood; i++) {
      fabric.cmEvent(CmEventType.CONNECT_REQUEST, fabric.newId(), listener, 0, new byte[56], 16);
    }
    MemorySegment id = fabric.newId();
    fabric.cmEvent(CmEventType.CONNECT_REQUEST, id, listener, 0, good(), 16);
    List<Integer> refusedBefore = new ArrayList<>();
    fabric.loop.execute(() -> refusedBefore.add(refusals.size()));
    fabric.loop.doWork();
    assertEquals(List.of(0), refusedBefore);
    fabric.loop.execute(() -> refusedBefore.add(refusals.size()));
    fabric.loop.doWork();
    assertEquals(List.of(0, CmEndpoints.MOST_EVENTS), refusedBefore);
    while (grantedDepth < 0) {
      fabric.loop.doWork();
    }
    assertEquals(flood, refusals.size());
    assertEquals(flood, fabric.counters.snapshot(0, 0, 0, 0).connectsRefused().get("NOT_VERBATIM"));
    assertEquals(1, fabric.counters.queuePairs.get());
    assertEquals(1, fabric.table.inUse());
    assertEquals(2, fabric.endpoints.size(), "the listener and the good one");
  }

  @Test
  void shouldRefuseARequestThatCameByAnotherDevice() throws Exception {
    MemorySegment id = fabric.newId();
    RdmaCmId.VERBS.set(id, IbvContext.STRUCT.allocate(fabric.arena));
    fabric.cmEvent(CmEventType.CONNECT_REQUEST, id, listener, 0, good(), 16);
    fabric.step();
    assertRefused(Refusal.ERROR);
  }

  @Test
  void shouldRefuseWhenTheQueuePairCannotBeMade() throws Exception {
    doThrow(new VerbsException("rdma_create_qp", Errno.ENOMEM, ""))
        .when(fabric.rdmaCm)
        .createQp(any(), any(), any());
    request(good(), 16);
    assertRefused(Refusal.ERROR);
  }

  @Test
  void shouldRefuseWhileThePortIsDown() throws Exception {
    fabric.asyncEvent(AsyncEventType.PORT_ERR, 1);
    fabric.step();
    request(good(), 16);
    assertEquals(List.of(Refusal.CLOSING), refusals);
    verify(fabric.rdmaCm, never()).accept(any(), any());
  }

  @Test
  void shouldReplaceTheOldQueuePairWhenAPeerAsksAgain() throws Exception {
    MemorySegment old = request(good(), 16);
    request(good(), 16);
    assertEquals(List.of(old.address()), fabric.destroyedIds);
    assertEquals(1, fabric.counters.queuePairs.get());
    assertEquals(1, fabric.table.inUse());
  }

  @Test
  void shouldMakeRoomForAPeerByClosingWhatIsHeldLongest() throws Exception {
    config.maxConnections(2).idleTimeout(Duration.ofMillis(500));
    listen();
    MemorySegment first = request(from("first").request(Fabric.SELF, 16, 0, 1), 16);
    establish(first);
    MemorySegment second = request(from("second").request(Fabric.SELF, 16, 0, 1), 16);
    establish(second);
    Handshake third = from("third");
    request(third.request(Fabric.SELF, 16, 0, 1), 16);
    assertEquals(List.of(Refusal.BUDGET), refusals, "both may well be in use");
    Thread.sleep(510);
    request(third.request(Fabric.SELF, 16, 0, 1), 16);
    assertEquals(List.of(Refusal.BUDGET), refusals);
    assertTrue(fabric.destroyedIds.contains(first.address()));
    assertFalse(fabric.destroyedIds.contains(second.address()));
    verify(fabric.rdmaCm).disconnect(any());
    assertEquals(2, fabric.counters.queuePairs.get());
    assertEquals(2, fabric.table.inUse());
  }

  @Test
  void shouldMakeRoomForAConnectionOfItsOwn() throws Exception {
    config.maxConnections(1).idleTimeout(Duration.ofMillis(1));
    listen();
    establish(request(good(), 16));
    Thread.sleep(2);
    fabric.connector.connect(Fabric.PEER);
    fabric.step();
    assertEquals(0, fabric.counters.queuePairs.get());
    fabric.establish(fabric.ids.getLast());
    assertEquals(1, fabric.counters.connectsInitiated.sum());
  }

  private Handshake from(String name) {
    return new Handshake(config.applicationToken(), name, 3);
  }

  private void establish(MemorySegment id) throws Exception {
    fabric.cmEvent(CmEventType.ESTABLISHED, id, 0, NONE);
    fabric.step();
  }

  @Test
  void shouldGiveUpAPeerThatNeverCompletes() throws Exception {
    config.connectTimeout(Duration.ofMillis(100));
    listen();
    MemorySegment id = request(good(), 16);
    Thread.sleep(120);
    fabric.step();
    assertEquals(List.of(id.address()), fabric.destroyedIds);
    assertEquals(0, fabric.counters.queuePairs.get());
  }

  /** Also when the event does not fit, as long as it is not a request of its own. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECT_REQUEST")
  void shouldDoWhatFollowsFromEveryEventBeforeAndAfterAPeerHasConnected(CmEventType type)
      throws Exception {
    for (boolean established : new boolean[] {false, true}) {
      listen();
      MemorySegment id = request(good(), 16);
      if (established) {
        fabric.cmEvent(CmEventType.ESTABLISHED, id, 0, NONE);
        fabric.step();
      }
      fabric.cmEvent(type, id, 0, NONE);
      fabric.step();
      boolean ends =
          switch (type.consequence()) {
            case CONNECT_FAILED, DISCONNECTED, DEVICE_REMOVED -> true;
            case PROGRESS, INCOMING, ESTABLISHED, IGNORED -> false;
          };
      assertEquals(ends ? List.of(id.address()) : List.of(), fabric.destroyedIds);
      assertEquals(ends ? 0 : 1, fabric.counters.queuePairs.get());
      assertEquals(ends ? 0 : 1, fabric.table.inUse());
      boolean removed = type.consequence() == CmEventType.Consequence.DEVICE_REMOVED;
      assertEquals(!removed, fabric.monitor.isActive());
    }
  }

  @Test
  void shouldDestroyARequestThatArrivesAfterTheListenerClosed() throws Exception {
    fabric.acceptor.close();
    MemorySegment id = request(good(), 16);
    assertTrue(fabric.destroyedIds.contains(id.address()));
    verify(fabric.rdmaCm, never()).accept(any(), any());
  }
}
