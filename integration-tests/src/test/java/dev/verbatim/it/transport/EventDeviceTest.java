package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.verbs.AsyncEventType;
import dev.verbatim.verbs.CmEventType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every event that a device or its connection manager can tell, in every state of a connection,
 * fitting or not. What follows from each is written down in the two enums; that it does follow,
 * that each batch ends once, that nothing hangs or is left, is shown here.
 */
@EnabledIfEnvironmentVariable(
    named = "VERBATIM_STANDIN_DIR",
    matches = ".+",
    disabledReason = "only the stand-in device tells what a test wants")
class EventDeviceTest extends DeviceTest {
  private static final int OTHER_PORT = 2;
  private static final int REGION = 64 << 10;

  /** Tells the reader, which is this process, from the server. */
  private static final String HERE = " process=" + lastArgument();

  private static RegionServer.Child server;

  private int lines;

  /** What the connection is about when the event comes. */
  private enum State {
    IDLE,
    READING,
    CONNECTING,
    CLOSING,
    PORT_DOWN
  }

  /** What must follow, whichever kind of event it was. */
  private enum Effect {
    NONE,
    CONNECTION_LOST,
    PORT_DOWN,
    DEVICE_FAILED
  }

  /**
   * An event of the stand-in's fault grammar.
   *
   * @param duringConnect whether it ends an attempt at connecting
   */
  record Event(String name, String line, Effect effect, boolean duringConnect) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Event> events() {
    List<Event> events = new ArrayList<>();
    IntStream.rangeClosed(0, 20).forEach(number -> addAsync(events, number));
    IntStream.rangeClosed(0, 16)
        .filter(number -> number != CmEventType.CONNECT_REQUEST.number()) // brings an identifier
        .mapToObj(EventDeviceTest::cmEvent)
        .forEach(events::add);
    return events.stream();
  }

  private static void addAsync(List<Event> events, int number) {
    AsyncEventType type = AsyncEventType.of(number);
    Effect effect =
        switch (type.consequence()) {
          case NONE, PORT_UP, ADDRESS_CHANGED -> Effect.NONE;
          case CONNECTION_LOST -> Effect.CONNECTION_LOST;
          case PORT_DOWN -> Effect.PORT_DOWN;
          case DEVICE_FAILED -> Effect.DEVICE_FAILED;
        };
    String line = "async event=" + number;
    events.add(new Event(type + " " + number, line, effect, effect != Effect.NONE));
    if (type.scope() == AsyncEventType.Scope.PORT) {
      events.add(
          new Event(type + " of another port", line + " port=" + OTHER_PORT, Effect.NONE, false));
    }
  }

  private static Event cmEvent(int number) {
    CmEventType type = CmEventType.of(number);
    Effect effect =
        switch (type.consequence()) {
          case PROGRESS, INCOMING, ESTABLISHED, IGNORED -> Effect.NONE;
          case CONNECT_FAILED, DISCONNECTED -> Effect.CONNECTION_LOST;
          case DEVICE_REMOVED -> Effect.DEVICE_FAILED;
        };
    return new Event(
        type + " " + number, "cm_event event=" + number, effect, effect != Effect.NONE);
  }

  @BeforeAll
  static void startServer() throws Exception {
    StandInFaults.set("");
    server = RegionServer.Child.start("server", REGION);
  }

  @AfterAll
  static void stopServer() throws Exception {
    if (server != null) {
      server.close();
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("events")
  void shouldEndEachBatchOnceAndDoWhatFollowsInEveryState(Event event) throws Exception {
    RdmaTransport reader = reader();
    order("");
    for (State state : State.values()) {
      if (!reader.portActive()) {
        // The device was lost in the state before. Two transports of a process share the events.
        reader.close();
        reader = reader();
      }
      try {
        meet(event, state, reader);
        recover(event, state, reader);
      } catch (Exception | AssertionError e) {
        throw new AssertionError(event + " while " + state + ": " + e, e);
      }
    }
  }

  private RdmaTransport reader() {
    return open(
        Transports.config("reader")
            .poolBytes(1 << 20)
            .slabBytes(1 << 20)
            .connectTimeout(Duration.ofMillis(300))
            .readTimeout(Duration.ofSeconds(5))
            .retryBackoff(Duration.ZERO));
  }

  private void meet(Event event, State state, RdmaTransport reader) throws Exception {
    switch (state) {
      case IDLE -> {
        PeerConnection connection = connected(reader);
        tell(event);
        assertEffect(event, connection, reader);
      }
      case READING -> meetWhileReading(event, reader);
      case CONNECTING -> meetWhileConnecting(event, reader);
      case CLOSING -> {
        connected(reader);
        reader.disconnect("server");
        tell(event);
      }
      case PORT_DOWN -> {
        PeerConnection connection = connected(reader);
        order("port down" + HERE);
        Transports.await("the connection is down", () -> !connection.isOpen());
        tell(event, "port down" + HERE);
      }
    }
  }

  /** An innocent event leaves the connection as it is; every other one takes it down. */
  private static void assertEffect(Event event, PeerConnection connection, RdmaTransport reader)
      throws Exception {
    if (event.effect == Effect.NONE) {
      Thread.sleep(50); // the device tells within 20 ms
      assertTrue(connection.isOpen(), "the connection is up");
      assertTrue(reader.portActive(), "the port is up");
    } else {
      Transports.await("the connection is down", () -> !connection.isOpen());
    }
  }

  private void meetWhileReading(Event event, RdmaTransport reader) throws Exception {
    PeerConnection connection = connected(reader);
    boolean harmless = event.effect == Effect.NONE;
    String slow = (harmless ? "read delay_us=150000" : "read drop") + HERE;
    order(slow);
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      outcomes.add(post(reader, connection, server.served().iova(), server.served().rkey(), 1_000));
    }
    tell(event, slow);
    for (Outcome outcome : outcomes) {
      ReadFailure failure = outcome.awaitEnd(); // once
      if (harmless) {
        assertNull(failure);
      } else {
        assertNotNull(failure);
        assertTrue(failure.kind() != ReadFailure.Kind.DEADLINE, failure::toString);
      }
    }
    assertEffect(event, connection, reader);
    Transports.await("all buffers are back", () -> reader.counters().poolUsedBytes() == 0);
  }

  private void meetWhileConnecting(Event event, RdmaTransport reader) throws Exception {
    String silence = "cm silent" + HERE;
    order(silence);
    reader.disconnect("server");
    Transports.await("no queue pair", () -> reader.counters().queuePairs() == 0);
    CompletableFuture<PeerConnection> attempt = reader.connect(server.served().peer());
    Transports.await(
        "the request is made", () -> reader.counters().queuePairs() == 1 || attempt.isDone());
    assertFalse(attempt.isDone(), "too early");
    tell(event, silence);
    ExecutionException failed =
        assertThrows(ExecutionException.class, () -> attempt.get(5, TimeUnit.SECONDS));
    if (event.duringConnect) {
      assertFalse(failed.getMessage().contains("no answer within"), failed.getMessage());
    }
    Transports.await("no queue pair", () -> reader.counters().queuePairs() == 0);
  }

  /** RDMA goes on after everything but the loss of the device. */
  private void recover(Event event, State state, RdmaTransport reader) throws Exception {
    order("");
    if (event.effect == Effect.DEVICE_FAILED && loses(event, state, reader)) {
      Transports.await("the device is given up", () -> reader.deviceFailure().isPresent());
      assertFalse(reader.portActive());
      tell("async event=" + AsyncEventType.PORT_ACTIVE.number());
      assertContains("not active", connectFails(reader, server.served().peer()));
      return;
    }
    if (event.effect == Effect.PORT_DOWN) {
      tell("async event=" + AsyncEventType.PORT_ACTIVE.number());
    }
    Transports.await("the port is up", reader::portActive);
    PeerConnection connection = connected(reader);
    assertReads(reader, connection, server.served(), 0, REGION);
  }

  /** Where the connection ends at the same time, there may be nothing left to tell it to. */
  private static boolean loses(Event event, State state, RdmaTransport reader)
      throws InterruptedException {
    boolean certain = state != State.CLOSING && state != State.PORT_DOWN;
    if (certain || event.line.equals("async event=" + AsyncEventType.DEVICE_FATAL.number())) {
      return true;
    }
    Thread.sleep(100); // the port's own event is taken by then
    return !reader.portActive();
  }

  private static PeerConnection connected(RdmaTransport reader) throws Exception {
    return Transports.connectEventually(reader, server.served().peer());
  }

  private void tell(Event event, String... others) throws Exception {
    tell(event.line, others);
  }

  /** Has it happen once more, beside the lines that go on being in force. */
  private void tell(String line, String... others) throws Exception {
    List<String> all = new ArrayList<>(List.of(others));
    all.add(line + " id=" + ++lines + HERE);
    order(String.join("\n", all));
  }

  /** Replaces the lines in force and waits until this process has read them. */
  private static void order(String rules) throws Exception {
    long before = StandInCounters.of("fault_loads");
    StandInFaults.set(rules);
    Transports.await("the reading of " + rules, () -> StandInCounters.of("fault_loads") > before);
  }

  private static String lastArgument() {
    String[] arguments = ProcessHandle.current().info().arguments().orElse(new String[] {"?"});
    return arguments[arguments.length - 1];
  }
}
