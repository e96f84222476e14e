package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.machine.Iwarp;
import dev.verbatim.transport.BufferSlice;
import dev.verbatim.transport.ConnectException;
import dev.verbatim.transport.EndpointBuffer;
import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.EndpointException;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.MemoryAccess;
import dev.verbatim.transport.RdmaEndpoint;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.WorkCompletion;
import dev.verbatim.transport.WorkOperation;
import dev.verbatim.verbs.WcStatus;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Endpoints whose peer is not ready, is too short, or goes; limits; closing in mid-work. */
class EndpointTroubleDeviceTest extends DeviceTest {
  private static final String SENT = "a SEND succeeds there when it is sent, and waits for nothing";

  /** Receivers that are slow, and senders that wait for them for ever. */
  private static EndpointConfig patient() {
    return new EndpointConfig().rnrRetry(7).rnrDelay(Duration.ofMillis(1));
  }

  /** Listens, and does something on each completion. */
  private static EndpointRecorder onCompletion(Runnable action) {
    return new EndpointRecorder() {
      @Override
      public void onCompletion(RdmaEndpoint endpoint, WorkCompletion completion) {
        super.onCompletion(endpoint, completion);
        action.run();
      }
    };
  }

  @Test
  void shouldDeliverWhenTheReceiveIsPostedLate() throws Exception {
    Iwarp.assumeAbsent(SENT);
    EndpointGroup nearGroup = group("near", patient());
    EndpointGroup farGroup = group("far", patient());
    EndpointBuffer own = nearGroup.allocate(5000);
    EndpointBuffer room = farGroup.allocate(5000);
    Pattern.fill(own.segment());
    EndpointPair pair = EndpointPair.connect(nearGroup, farGroup);
    pair.near().send(1, own.all());
    Thread.sleep(300);
    assertEquals(1, pair.near().sendsUnderWay(), "sent without a receive");
    pair.far().receive(2, room.all());
    pair.nearSays().succeeded(1, WorkOperation.SEND);
    assertEquals(5000, pair.farSays().succeeded(2, WorkOperation.RECEIVE).bytes());
    Pattern.assertEqualTo(room.segment(), 0);
    if (PortControl.StandInFaults.present()) {
      assertTrue(StandInCounters.of("not_ready") > 10, "tried again each millisecond");
    }
  }

  @Test
  void shouldFailAfterTheTriesThatTheReceiverAllows() throws Exception {
    Iwarp.assumeAbsent(SENT);
    // Each side says how often the other one tries: here one direction is bounded, there the other.
    EndpointConfig bounded = new EndpointConfig().rnrRetry(2).rnrDelay(Duration.ofMillis(5));
    EndpointGroup patient = group("patient", patient());
    EndpointGroup strict = group("strict", bounded);
    EndpointBuffer own = patient.allocate(8);

    EndpointPair toStrict = EndpointPair.connect(patient, strict);
    toStrict.near().send(1, own.all());
    assertNotReady(toStrict.nearSays());

    EndpointPair fromStrict = EndpointPair.connect(strict, patient);
    fromStrict.far().send(1, own.all());
    assertNotReady(fromStrict.farSays());
  }

  private static void assertNotReady(EndpointRecorder says) throws Exception {
    WorkCompletion failed = says.failed(1, WcStatus.RNR_RETRY_EXC_ERR);
    assertContains("no receive posted", failed.describe());
    assertContains("rnrRetry", failed.describe());
    assertContains("RNR_RETRY_EXC_ERR", says.closed());
  }

  @Test
  void shouldFailBothSidesWhenAMessageIsLongerThanTheReceive() throws Exception {
    Iwarp.assumeAbsent(SENT);
    EndpointGroup nearGroup = group("near", patient());
    EndpointGroup farGroup = group("far", patient());
    EndpointBuffer own = nearGroup.allocate(100);
    EndpointBuffer room = farGroup.allocate(50);
    EndpointPair pair =
        EndpointPair.connect(nearGroup, farGroup, far -> EndpointPair.receive(far, 1, room.all()));
    pair.near().send(2, own.all());
    // The former by the InfiniBand architecture; the latter is what Soft-RoCE answers.
    WorkCompletion sent = pair.nearSays().failed(2, WcStatus.REM_INV_REQ_ERR, WcStatus.REM_OP_ERR);
    assertContains("receive", sent.describe());
    WorkCompletion received = pair.farSays().next();
    assertEquals(1, received.id());
    assertFalse(received.succeeded(), received.describe());
  }

  @Test
  void shouldFlushWhatIsUnderWayWhenItIsClosed() throws Exception {
    Iwarp.assumeAbsent(SENT);
    EndpointGroup nearGroup = group("near", patient());
    EndpointGroup farGroup = group("far", patient());
    EndpointBuffer own = nearGroup.allocate(100);
    EndpointPair pair = EndpointPair.connect(nearGroup, farGroup);
    for (int i = 0; i < 20; i++) {
      pair.near().send(i, own.all()); // nobody receives
    }
    for (int i = 0; i < 5; i++) {
      pair.near().receive(100 + i, own.all());
    }
    pair.near().close();
    int nextSend = 0;
    int nextReceive = 100;
    for (int i = 0; i < 25; i++) {
      WorkCompletion flushed = pair.nearSays().next();
      assertEquals(WcStatus.WR_FLUSH_ERR, flushed.status(), flushed.describe());
      boolean receive = flushed.operation() == WorkOperation.RECEIVE;
      assertEquals(receive ? nextReceive++ : nextSend++, flushed.id());
    }
    assertContains("closed by this side", pair.nearSays().closed());
    pair.near().closed().get(60, TimeUnit.SECONDS);
    pair.nearSays().nothingMore();
    assertContains(
        "closed by this side",
        assertThrows(EndpointException.class, () -> pair.near().send(1, own.all())).getMessage());
    assertThrows(EndpointException.class, () -> pair.near().receive(1, own.all()));
    pair.farSays().closed();
  }

  @Test
  void shouldCloseTheGroupInMidWorkAlsoFromItsOwnThread() throws Exception {
    Iwarp.assumeAbsent(SENT);
    EndpointGroup nearGroup = group("near", patient());
    EndpointGroup farGroup = group("far", patient());
    EndpointBuffer own = nearGroup.allocate(100);
    EndpointBuffer room = farGroup.allocate(100);
    EndpointPair first =
        EndpointPair.connect(nearGroup, farGroup, far -> EndpointPair.receive(far, 1, room.all()));
    EndpointPair second = EndpointPair.connect(nearGroup, farGroup);
    EndpointRecorder closing = onCompletion(nearGroup::close);
    var receiving = new EndpointRecorder(far -> EndpointPair.receive(far, 9, room.all()));
    RdmaEndpoint third = EndpointPair.connect(nearGroup, closing, farGroup, receiving).near();
    second.near().send(1, own.all());
    third.send(2, own.all());
    closing.succeeded(2, WorkOperation.SEND);
    second.nearSays().failed(1, WcStatus.WR_FLUSH_ERR);
    assertContains("the group of endpoints is closed", second.nearSays().closed());
    first.nearSays().closed();
    closing.closed();
    first.farSays().failed(1, WcStatus.WR_FLUSH_ERR);
    assertThrows(IllegalStateException.class, () -> nearGroup.allocate(8));
    assertThrows(IllegalStateException.class, () -> EndpointPair.connect(nearGroup, farGroup));
    Transports.await("freed", () -> ownIsClosed(own));
  }

  /** As a program may that has only the one connection. */
  @Test
  void shouldCloseTheTransportFromAListener() throws Exception {
    RdmaTransport transport = open("near");
    EndpointGroup nearGroup = transport.openGroup(patient());
    EndpointGroup farGroup = group("far", patient());
    EndpointBuffer own = nearGroup.allocate(8);
    EndpointRecorder closing = onCompletion(transport::close);
    EndpointBuffer room = farGroup.allocate(8);
    var receiving = new EndpointRecorder(far -> EndpointPair.receive(far, 1, room.all()));
    EndpointPair.connect(nearGroup, closing, farGroup, receiving).near().send(1);
    closing.succeeded(1, WorkOperation.SEND);
    closing.closed();
    Transports.await("freed", () -> ownIsClosed(own));
    Transports.await("closed", () -> transport.counters().memoryRegions() == 0);
    assertThrows(IllegalStateException.class, () -> transport.openGroup(patient()));
  }

  private static boolean ownIsClosed(EndpointBuffer buffer) {
    try {
      buffer.segment();
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  @Test
  void shouldSayWhichLimitIsReached() throws Exception {
    Iwarp.assumeAbsent(SENT);
    EndpointConfig small =
        patient().sendDepth(2).receiveDepth(2).slices(2).maxEndpoints(1).inlineBytes(0);
    EndpointGroup nearGroup = group("near", small);
    EndpointGroup farGroup = group("far", patient());
    EndpointBuffer own = nearGroup.allocate(100);
    EndpointPair pair = EndpointPair.connect(nearGroup, farGroup);
    RdmaEndpoint near = pair.near();
    assertEquals(0, near.limits().inlineBytes());
    for (int i = 0; i < 2; i++) {
      near.send(i, own.all());
      near.receive(i, own.all());
    }
    assertContains(
        "sendDepth = 2",
        assertThrows(IllegalStateException.class, () -> near.send(3, own.all())).getMessage());
    assertContains(
        "receiveDepth = 2",
        assertThrows(IllegalStateException.class, () -> near.receive(3, own.all())).getMessage());
    assertContains(
        "3 slices are more than 2",
        assertThrows(
                IllegalArgumentException.class,
                () -> near.send(3, own.slice(0, 1), own.slice(1, 1), own.slice(2, 1)))
            .getMessage());
    EndpointBuffer foreign = farGroup.allocate(8, MemoryAccess.REMOTE_READ);
    assertContains(
        "another group",
        assertThrows(IllegalArgumentException.class, () -> near.send(3, foreign.all()))
            .getMessage());
    assertContains(
        "16 bytes",
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> near.read(3, foreign.remote(), own.slice(0, 16)))
            .getMessage());
    EndpointPair full = pair;
    ExecutionException tooMany =
        assertThrows(ExecutionException.class, () -> EndpointPair.connect(nearGroup, farGroup));
    assertContains(
        "maxEndpoints = 1",
        assertInstanceOf(ConnectException.class, tooMany.getCause()).getMessage());
    assertTrue(full.near().isOpen());
  }

  @Test
  void shouldRefuseAMessageThatIsLongerThanThePortTakes() throws Exception {
    Iwarp.assumeAbsent("siw takes six slices at most");
    int slices = 16; // of the same memory: the longest message of most devices is 1 or 2 GiB
    EndpointGroup group = group("near", patient().slices(slices));
    long most = group.limits().messageBytes();
    EndpointBuffer own = group.allocate(most / slices + 1);
    BufferSlice[] data = new BufferSlice[slices];
    Arrays.fill(data, own.all());
    EndpointPair pair = EndpointPair.connect(group, group("far", patient()));
    assertContains(
        "longest message, " + most,
        assertThrows(IllegalArgumentException.class, () -> pair.near().send(1, data)).getMessage());
    assertTrue(pair.near().isOpen());
  }

  @Test
  void shouldSayWhenTheDeviceAllowsLess() throws Exception {
    RdmaTransport transport = open("near");
    EndpointConfig huge = new EndpointConfig().maxEndpoints(1 << 16).sendDepth(1 << 16);
    assertContains(
        "more than the device's",
        assertThrows(EndpointException.class, () -> transport.openGroup(huge)).getMessage());
    assertContains(
        "rnrRetry = 8",
        assertThrows(
                IllegalArgumentException.class,
                () -> transport.openGroup(new EndpointConfig().rnrRetry(8)))
            .getMessage());
  }

  @Test
  void shouldGoOnWhenAListenerThrows() throws Exception {
    EndpointGroup nearGroup = group("near", patient());
    EndpointGroup farGroup = group("far", patient());
    EndpointBuffer own = nearGroup.allocate(8);
    EndpointBuffer room = farGroup.allocate(16);
    EndpointRecorder throwing =
        onCompletion(
            () -> {
              throw new IllegalStateException("a fault of the program, wanted by the test");
            });
    var receiving =
        new EndpointRecorder(
            far -> {
              EndpointPair.receive(far, 1, room.slice(0, 8));
              EndpointPair.receive(far, 2, room.slice(8, 8));
            });
    RdmaEndpoint near = EndpointPair.connect(nearGroup, throwing, farGroup, receiving).near();
    near.send(1, own.all());
    throwing.succeeded(1, WorkOperation.SEND);
    near.send(2, own.all());
    throwing.succeeded(2, WorkOperation.SEND);
  }

  @Test
  void shouldRejectWhatNobodyAnswersInTime() throws Exception {
    EndpointGroup nearGroup = group("near", patient());
    EndpointGroup farGroup = group("far", patient().connectTimeout(Duration.ofMillis(200)));
    var address = farGroup.listen(0, request -> {});
    ExecutionException late =
        assertThrows(
            ExecutionException.class,
            () ->
                nearGroup
                    .connect(address, new byte[0], new EndpointRecorder())
                    .get(60, TimeUnit.SECONDS));
    assertContains("not answered in time", late.getCause().getMessage());
  }
}
