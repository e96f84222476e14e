package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockStatic;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;

import dev.verbatim.verbs.AsyncEventType;
import dev.verbatim.verbs.CmEventType;
import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsException;
import dev.verbatim.verbs.WcStatus;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mockito.MockedStatic;
import org.slf4j.Logger;

/**
 * Errors, memory that is used up above all, on the transport's own threads: nobody else would end
 * what they are about, and without a thread nothing ends any more.
 */
class OwnThreadsTest {
  /** Not an OutOfMemoryError, which JUnit takes for its own. */
  private static final Error ERROR = new InternalError("test");

  private static final byte[] NONE = {};

  private final TransportConfig config = new TransportConfig().retryBackoff(Duration.ZERO);
  private Fabric fabric;

  @BeforeEach
  void make() throws Exception {
    fabric = new Fabric(config);
  }

  private static void endsWithoutThrowing(Runnable body, Runnable stop) throws Exception {
    List<Throwable> thrown = new ArrayList<>();
    Thread thread = new Thread(body);
    thread.setUncaughtExceptionHandler((unused, e) -> thrown.add(e));
    thread.start();
    stop.run();
    assertTrue(thread.join(Duration.ofSeconds(10)), "the thread ends");
    assertEquals(List.of(), thrown);
  }

  @Test
  void shouldEndReadsWhenAnErrorIsThrownToThePoller() throws Exception {
    PeerConnection connection = fabric.connected();
    RecordingListener listener = fabric.read(connection);
    doThrow(ERROR)
        .doAnswer(
            call -> {
              fabric.complete(0, WcStatus.SUCCESS);
              return null;
            })
        .doNothing()
        .when(fabric.verbs)
        .reqNotifyCq(any(), anyBoolean());

    endsWithoutThrowing(
        fabric.poller,
        () -> {
          waitFor(() -> !listener.ends.isEmpty());
          fabric.poller.stop();
        });

    listener.assertEnded("success");
  }

  @Test
  void shouldGoOnWhenAnErrorIsThrownToTheEventThread() throws Exception {
    doThrow(ERROR).doReturn(0).when(fabric.posix).poll(any(), anyInt(), anyInt());
    List<String> done = new ArrayList<>();

    endsWithoutThrowing(
        fabric.loop,
        () -> {
          fabric.loop.execute(() -> done.add("task"));
          fabric.loop.stop();
        });

    assertEquals(List.of("task"), done);
  }

  private enum Step {
    IDENTIFIER,
    ADDRESS,
    ROUTE,
    QUEUE_PAIR,
    CONNECT
  }

  private void failAt(Step step) throws VerbsException {
    switch (step) {
      case IDENTIFIER -> doThrow(ERROR).when(fabric.rdmaCm).createId(any(), any(), anyInt());
      case ADDRESS -> doThrow(ERROR).when(fabric.rdmaCm).resolveAddr(any(), any(), any(), anyInt());
      case ROUTE -> doThrow(ERROR).when(fabric.rdmaCm).resolveRoute(any(), anyInt());
      case QUEUE_PAIR -> doThrow(ERROR).when(fabric.rdmaCm).createQp(any(), any(), any());
      case CONNECT -> doThrow(ERROR).when(fabric.rdmaCm).connect(any(), any());
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldFailAConnectAtOnceWhenAStepThrowsAnError(Step step) throws Exception {
    failAt(step);

    CompletableFuture<PeerConnection> future = fabric.connector.connect(Fabric.PEER);
    fabric.step();
    for (MemorySegment id : List.copyOf(fabric.ids)) {
      fabric.cmEvent(CmEventType.ADDR_RESOLVED, id, 0, NONE);
      fabric.step();
      fabric.cmEvent(CmEventType.ROUTE_RESOLVED, id, 0, NONE);
      fabric.step();
    }

    ExecutionException e = assertThrows(ExecutionException.class, future::get);
    assertInstanceOf(ConnectException.class, e.getCause());
    fabric.assertNothingHeld();
  }

  @Test
  void shouldRefuseARequestWhenAcceptingItThrowsAnError() throws Exception {
    fabric.acceptor.listen(MemorySegment.NULL);
    MemorySegment listener = fabric.ids.getFirst();
    doThrow(ERROR).when(fabric.rdmaCm).accept(any(), any());
    doThrow(ERROR).when(fabric.rdmaCm).reject(any(), any(), anyInt());
    byte[] request =
        new Handshake(config.applicationToken(), "peer", 3).request(Fabric.SELF, 16, 0, 1);

    MemorySegment id = fabric.newId();
    fabric.cmEvent(CmEventType.CONNECT_REQUEST, id, listener, 0, request, 16);
    fabric.step();

    assertEquals(0, fabric.counters.queuePairs.get());
    assertEquals(0, fabric.table.inUse());
    assertEquals(List.of(id.address()), fabric.destroyedIds);
  }

  /** To destroy its identifier would wait for ever. */
  @Test
  void shouldAcknowledgeAnEventThatCannotBeTaken() throws Exception {
    fabric.cmEvent(CmEventType.ADDR_RESOLVED, fabric.newId(), 0, NONE);
    try (MockedStatic<CmEvent> _ =
        mockStatic(
            CmEvent.class,
            call -> {
              throw ERROR;
            })) {
      assertThrows(InternalError.class, fabric.loop::doWork);
    }
    verify(fabric.rdmaCm).ackCmEvent(any());
  }

  @Test
  void shouldTellAllOthersWhenAListenerOfThePortThrowsAnError() throws Exception {
    List<Boolean> told = new ArrayList<>();
    fabric.monitor.onChange(
        active -> {
          throw new NoClassDefFoundError("test");
        });
    fabric.monitor.onChange(told::add);

    fabric.asyncEvent(AsyncEventType.PORT_ERR, 1);
    fabric.step();

    assertEquals(List.of(false), told);
  }

  /** The poller's own thread tells the end of a READ, and then ends when it is asked to. */
  private void pollerEndsAfter(RecordingListener listener) throws Exception {
    endsWithoutThrowing(
        fabric.poller,
        () -> {
          waitFor(
              () -> {
                fabric.loop.doWork();
                return !listener.ends.isEmpty();
              });
          fabric.poller.stop();
        });
  }

  /** As a device does that was reset, or whose completion queue has overrun. */
  @Test
  void shouldEndReadsAndTheThreadWhenNoCompletionCanBeTakenAnyMore() throws Exception {
    config.readTimeout(Duration.ofMillis(50));
    PeerConnection connection = fabric.connected();
    RecordingListener listener = fabric.read(connection);
    doThrow(new VerbsException("ibv_poll_cq", 0, ""))
        .when(fabric.verbs)
        .pollCq(any(), anyInt(), any());

    pollerEndsAfter(listener);

    listener.assertEnded("DEADLINE");
    assertEquals(0, fabric.pool.usedBytes());
  }

  private enum Source {
    COMPLETIONS,
    ARMING,
    QUEUE_EVENTS,
    DEVICE_EVENTS
  }

  private void fail(Source source, int errno) throws VerbsException {
    Verbs failing = doThrow(new VerbsException("call", errno, "")).when(fabric.verbs);
    switch (source) {
      case COMPLETIONS -> failing.pollCq(any(), anyInt(), any());
      case ARMING -> failing.reqNotifyCq(any(), anyBoolean());
      case QUEUE_EVENTS -> failing.getCqEvent(any(), any(), any());
      case DEVICE_EVENTS -> failing.getAsyncEvent(any(), any());
    }
  }

  /** Or else each peer would cost its tasks a READ's timeout, again and again. */
  @ParameterizedTest
  @EnumSource
  void shouldGiveTheDeviceUpWhenItAnswersNoMore(Source source) throws Exception {
    PeerConnection connection = fabric.connected();
    RecordingListener listener = fabric.read(connection);
    fail(source, Errno.EIO);

    pollerEndsAfter(listener);

    listener.assertEnded("LOCAL_DEVICE");
    assertTrue(fabric.monitor.failure().contains("call"), fabric.monitor.failure());
    assertEquals(List.of("down"), fabric.actions);
    assertTrue(fabric.connector.connect(Fabric.PEER).isCompletedExceptionally());
    fabric.asyncEvent(AsyncEventType.PORT_ACTIVE, 1);
    assertFalse(fabric.monitor.isActive());
  }

  @Test
  void shouldKeepADeviceWhoseErrorsPassAndSayThemOnce() {
    List<String> why = new ArrayList<>();
    Logger log = mock(Logger.class);
    FailureStreak streak = new FailureStreak(log, "Test", why::add);
    for (int i = 0; i < 100; i++) {
      if (i % FailureStreak.MOST == 0) {
        streak.succeeded();
      } else {
        streak.failed(new VerbsException("call", Errno.EIO, ""));
      }
    }
    assertEquals(List.of(), why);
    for (int i = 0; i < 100; i++) {
      streak.failed(new VerbsException("call", Errno.EIO, ""));
    }
    assertEquals(1, why.size(), why::toString);
    verify(log).warn(anyString(), any(), any());
    verifyNoMoreInteractions(log);
  }

  /** A device that was removed: its descriptor stays readable, and reading it fails. */
  @Test
  void shouldNotSpinWhenAnEventCanNeverBeTaken() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    doAnswer(
            call -> {
              tries.incrementAndGet();
              throw new VerbsException("ibv_get_async_event", Errno.EIO, "");
            })
        .when(fabric.verbs)
        .getAsyncEvent(any(), any());

    endsWithoutThrowing(
        fabric.loop,
        () -> {
          long end = System.nanoTime() + Duration.ofMillis(500).toNanos();
          waitFor(() -> System.nanoTime() - end > 0);
          fabric.loop.stop();
        });

    assertTrue(tries.get() > 0);
    assertTrue(tries.get() <= 20, "tries in half a second: " + tries);
  }

  @Test
  void shouldTellTheBatchOnceWhenPostingItThrowsAnError() throws Exception {
    PeerConnection connection = fabric.connected();
    doThrow(ERROR).when(fabric.verbs).postSend(any(), any(), any());

    RecordingListener listener = fabric.read(connection);
    fabric.step();

    listener.assertEnded("OTHER");
    assertEquals(0, fabric.pool.usedBytes());
    assertFalse(connection.isOpen());
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  private static void waitFor(Condition condition) {
    long end = System.nanoTime() + Duration.ofSeconds(5).toNanos();
    try {
      while (!condition.holds() && System.nanoTime() < end) {
        Thread.onSpinWait();
      }
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
