package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.BufferSlice;
import dev.verbatim.transport.ConnectException;
import dev.verbatim.transport.ConnectionRequest;
import dev.verbatim.transport.EndpointBuffer;
import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.EndpointException;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaEndpoint;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import dev.verbatim.transport.TransportConfig;
import dev.verbatim.transport.WorkCompletion;
import dev.verbatim.transport.WorkOperation;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Programs that do what they should not: they are told, and nothing else suffers. */
class EndpointMisuseDeviceTest extends DeviceTest {
  private static final byte[] NONE = {};
  private static final TimeUnit SECONDS = TimeUnit.SECONDS;

  /** As a listener in Scala or Kotlin may, which need not declare it. */
  @SuppressWarnings("unchecked")
  private static <E extends Throwable> void throwChecked() throws E {
    throw (E) new IOException("a fault of the program, wanted by the test");
  }

  private static void fail() {
    EndpointMisuseDeviceTest.<RuntimeException>throwChecked();
  }

  @Test
  void shouldGoOnWhenListenersThrowCheckedExceptions() throws Exception {
    EndpointGroup nearGroup = group("near", new EndpointConfig());
    EndpointGroup farGroup = group("far", new EndpointConfig());
    class Throwing extends EndpointRecorder {
      private final BufferSlice room;

      Throwing(EndpointBuffer room) {
        this.room = room.all();
      }

      @Override
      public void onPrepared(RdmaEndpoint endpoint) {
        EndpointPair.receive(endpoint, 1, room);
        fail();
      }

      @Override
      public void onCompletion(RdmaEndpoint endpoint, WorkCompletion completion) {
        super.onCompletion(endpoint, completion);
        fail();
      }

      @Override
      public void onClosed(RdmaEndpoint endpoint, String reason) {
        super.onClosed(endpoint, reason);
        fail();
      }
    }
    Throwing nearSays = new Throwing(nearGroup.allocate(8));
    Throwing farSays = new Throwing(farGroup.allocate(8));
    AtomicInteger asked = new AtomicInteger();
    InetSocketAddress address =
        farGroup.listen(
            0,
            request -> {
              if (asked.incrementAndGet() == 1) {
                fail();
              }
              request.accept(farSays);
            });
    ExecutionException refused =
        assertThrows(
            ExecutionException.class,
            () -> nearGroup.connect(address, NONE, new EndpointRecorder()).get(30, SECONDS));
    assertContains("the peer failed to answer", refused.getMessage());
    RdmaEndpoint near = nearGroup.connect(address, NONE, nearSays).get(30, SECONDS);
    near.send(2);
    nearSays.succeeded(2, WorkOperation.SEND);
    farSays.succeeded(1, WorkOperation.RECEIVE);
    near.close();
    near.closed().get(30, SECONDS);
    farSays.closed();
  }

  @Test
  void shouldGoOnWhenAReadListenerThrowsACheckedException() throws Exception {
    RdmaTransport near = open("near");
    RdmaTransport far = open("far");
    MemoryRegion region = patternRegion(far, 4096);
    PeerConnection connection = Transports.connect(near, Transports.address("far", far));
    ReadBuffer buffer = near.tryAcquire(8).orElseThrow();
    ReadListener throwing =
        new ReadListener() {
          @Override
          public void onSuccess() {
            fail();
          }

          @Override
          public void onFailure(ReadFailure failure) {}
        };
    connection.read(new ReadBatch(throwing).add(region.iova(), region.rkey(), buffer, 0, 8));
    buffer.release();
    assertReads(near, connection, region, 0, 4096);
  }

  /** Its queue would tell no completion any more: whoever waits for one would wait for ever. */
  @Test
  void shouldEndAllWhenTheCompletionQueueOfAGroupFails() throws Exception {
    StandInFaults.assumePresent();
    // One: two in a process share the device's events, and an end may be told of by its peer first.
    RdmaTransport both = open("both");
    EndpointPair pair =
        EndpointPair.connect(
            both.openGroup(new EndpointConfig()), both.openGroup(new EndpointConfig()));
    StandInFaults.set("async event=0"); // IBV_EVENT_CQ_ERR
    assertContains("CQ_ERR", pair.nearSays().closed());
    assertContains("CQ_ERR", pair.farSays().closed());
    Transports.await("it knows", () -> both.deviceFailure().isPresent());
  }

  @Test
  void shouldEndAConnectionThatNobodyWaitsForAnyMore() throws Exception {
    EndpointGroup nearGroup = group("near", new EndpointConfig().maxEndpoints(1));
    EndpointGroup farGroup = group("far", new EndpointConfig());
    CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
    InetSocketAddress address = farGroup.listen(0, asked::complete);
    EndpointRecorder nearSays = new EndpointRecorder();
    EndpointRecorder farSays = new EndpointRecorder();
    CompletableFuture<RdmaEndpoint> connecting = nearGroup.connect(address, NONE, nearSays);
    ConnectionRequest request = asked.get(30, SECONDS);
    assertTrue(connecting.cancel(true));
    request.accept(farSays);
    nearSays.closed();
    farSays.closed();
  }

  @Test
  void shouldGoByTheConfigurationThatItWasOpenedWith() throws Exception {
    EndpointConfig config = new EndpointConfig().connectTimeout(Duration.ofMillis(300));
    EndpointGroup nearGroup = group("near", config);
    EndpointGroup farGroup = group("far", new EndpointConfig());
    config.connectTimeout(Duration.ofHours(1)); // for the next group
    InetSocketAddress address = farGroup.listen(0, request -> {});
    ExecutionException late =
        assertThrows(
            ExecutionException.class,
            () -> nearGroup.connect(address, NONE, new EndpointRecorder()).get(30, SECONDS));
    assertContains("300 ms", late.getMessage());
  }

  @Test
  void shouldGoByTheConfigurationThatTheTransportWasOpenedWith() throws Exception {
    StandInFaults.assumePresent();
    TransportConfig config = Transports.config("near").connectTimeout(Duration.ofMillis(300));
    RdmaTransport near = open(config);
    RdmaTransport far = open("far");
    config.connectTimeout(Duration.ofHours(1));
    StandInFaults.set("cm silent");
    assertContains("300 ms", connectFails(near, Transports.address("far", far)));
  }

  @Test
  void shouldNotListenWhenItIsInterrupted() throws Exception {
    EndpointGroup group = group("far", new EndpointConfig());
    EndpointGroup other = group("other", new EndpointConfig());
    int port = other.listen(0, request -> {}).getPort() + 1;
    // What is done at once is done: the event thread must be busy.
    CountDownLatch busy = new CountDownLatch(1);
    CompletableFuture<Void> free = new CompletableFuture<>();
    InetSocketAddress slow =
        group.listen(
            0,
            request -> {
              busy.countDown();
              free.join();
              request.reject("late");
            });
    var connecting = other.connect(slow, NONE, new EndpointRecorder());
    busy.await();
    Thread.currentThread().interrupt();
    try {
      assertThrows(EndpointException.class, () -> group.listen(port, request -> {}));
    } finally {
      assertTrue(Thread.interrupted());
      free.complete(null);
    }
    assertThrows(ExecutionException.class, () -> connecting.get(60, SECONDS));
    Transports.await("the port is free", () -> listens(group, port));
  }

  private static boolean listens(EndpointGroup group, int port) {
    try {
      return group.listen(port, request -> {}).getPort() == port;
    } catch (EndpointException e) {
      return false;
    }
  }

  @Test
  void shouldRefuseANullAtOnce() throws Exception {
    EndpointGroup group = group("near", new EndpointConfig());
    assertThrows(NullPointerException.class, () -> group.listen(0, null));
    Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
    CompletableFuture<Void> asked = new CompletableFuture<>();
    InetSocketAddress address =
        group.listen(
            0,
            request -> {
              for (Runnable wrong :
                  List.<Runnable>of(() -> request.accept(null), () -> request.reject(null))) {
                try {
                  wrong.run();
                } catch (NullPointerException e) {
                  thrown.add(e);
                }
              }
              request.reject("busy");
              asked.complete(null);
            });
    assertThrows(NullPointerException.class, () -> group.connect(address, NONE, null));
    ExecutionException busy =
        assertThrows(
            ExecutionException.class,
            () -> group.connect(address, NONE, new EndpointRecorder()).get(30, SECONDS));
    assertContains("busy", busy.getMessage());
    assertEquals(2, thrown.size());
  }

  /** A flood of them must not use up memory and identifiers until each has waited its time. */
  @Test
  void shouldRefuseRequestsWhenTooManyWaitForAnAnswer() throws Exception {
    StandInFaults.assumePresent();
    int wanted = 260;
    EndpointConfig config =
        new EndpointConfig()
            .maxEndpoints(wanted)
            .sendDepth(1)
            .receiveDepth(1)
            .connectTimeout(Duration.ofMinutes(2));
    EndpointGroup nearGroup = group("near", config);
    EndpointGroup farGroup = group("far", config);
    Queue<ConnectionRequest> unanswered = new ConcurrentLinkedQueue<>();
    InetSocketAddress address = farGroup.listen(0, unanswered::add);
    List<CompletableFuture<RdmaEndpoint>> connecting = new ArrayList<>();
    for (int i = 0; i < wanted; i++) {
      connecting.add(nearGroup.connect(address, NONE, new EndpointRecorder()));
    }
    Transports.await(
        "four are refused",
        () -> connecting.stream().filter(CompletableFuture::isCompletedExceptionally).count() == 4);
    assertEquals(wanted - 4, unanswered.size());
    ExecutionException refused =
        assertThrows(
            ExecutionException.class,
            () ->
                connecting.stream()
                    .filter(CompletableFuture::isCompletedExceptionally)
                    .findAny()
                    .orElseThrow()
                    .get());
    assertContains(
        "may wait for an answer",
        assertInstanceOf(ConnectException.class, refused.getCause()).getMessage());
  }
}
