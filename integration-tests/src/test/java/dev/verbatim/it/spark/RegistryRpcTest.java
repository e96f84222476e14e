package dev.verbatim.it.spark;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.FaultyRegistry;
import dev.verbatim.it.spark.fixture.FaultyRegistry.Fault;
import dev.verbatim.it.spark.fixture.FaultyRegistry.Question;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.shuffle.registry.DriverLink;
import dev.verbatim.shuffle.registry.DriverRegistry;
import dev.verbatim.shuffle.registry.MapOutputTables;
import dev.verbatim.shuffle.registry.OutputPublisher;
import dev.verbatim.shuffle.registry.RegistryEndpoint;
import dev.verbatim.transport.PeerAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.LongStream;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.rpc.RpcAddress;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.RpcEnv$;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Option;

/** Executors and the driver's registry on two ends of Spark's own RPC, over TCP, without jobs. */
@Tag("tcp")
@Timeout(90)
class RegistryRpcTest {
  private static final int SHUFFLE = 5;
  private static final PeerAddress WRITER =
      new PeerAddress("1", new InetSocketAddress("10.0.0.1", 7), 9);

  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
  private final Set<Integer> live = Set.of(SHUFFLE);
  private final DriverRegistry registry =
      new DriverRegistry(Duration.ofSeconds(2), timer, live::contains);
  private final List<Integer> tooLate = new CopyOnWriteArrayList<>();
  private RpcEnv driver = env("driver", 0, false);
  private final RpcAddress address = driver.address();
  private final RpcEnv executors = env("executors", 0, true);
  private FaultyRegistry faulty = FaultyRegistry.open(driver, registry);
  private OutputPublisher publisher;
  private MapOutputTables tables;

  private static RpcEnv env(String name, int port, boolean client) {
    SparkConf conf = new SparkConf(false).set("spark.rpc.io.maxRetries", "0");
    SecurityManager security =
        new SecurityManager(
            conf,
            Option.empty(),
            org.apache.spark.internal.config.package$.MODULE$.AUTH_SECRET_FILE());
    return RpcEnv$.MODULE$.create(name, "127.0.0.1", port, conf, security, client);
  }

  @BeforeEach
  void start() {
    publisher =
        new OutputPublisher(
            link("1"),
            new ShuffleCounters(),
            timer,
            Duration.ofMillis(1),
            Duration.ofSeconds(2),
            Duration.ofHours(1));
    tables = new MapOutputTables(link("2"));
  }

  private DriverLink link(String executorId) {
    return new DriverLink(
        executors.setupEndpointRef(address, RegistryEndpoint.NAME),
        executorId,
        Duration.ofSeconds(4));
  }

  @AfterEach
  void stop() {
    faulty.close();
    executors.shutdown();
    driver.shutdown();
    timer.shutdownNow();
  }

  private void publish(long... mapIds) {
    for (long mapId : mapIds) {
      publisher.publish(
          SHUFFLE,
          new Declined(mapId, "1", FallbackReason.BUDGET_REACHED),
          () -> tooLate.add(SHUFFLE));
    }
  }

  private Located locate(long... mapIds) throws Exception {
    return tables.locate(SHUFFLE, "1", mapIds).get(30, SECONDS);
  }

  private void awaitRecords(int count) {
    Deadline.await(
        "records at the driver",
        Duration.ofSeconds(20),
        () -> registry.records() == count,
        registry::records);
  }

  @Test
  void shouldArriveWhenFirstSendingsAreRefused() throws Exception {
    faulty.faults((question, nth) -> nth < 2 ? Fault.REFUSED : Fault.NONE);

    publisher.announce(WRITER, "", "RDMA on");
    publish(10, 11);

    awaitRecords(2);
    assertEquals(3, faulty.count(Question.ANNOUNCE));
    faulty.faults((question, nth) -> Fault.NONE);
    Located located = locate(10, 11);
    assertInstanceOf(PeerState.On.class, located.peer());
    assertEquals(Set.of(10L, 11L), located.outputs().keySet());
  }

  @Test
  void shouldSendAgainWhenNoAnswerComesAndChangeNothingByIt() throws Exception {
    faulty.faults((question, nth) -> nth == 0 ? Fault.ANSWER_LOST : Fault.NONE);

    publisher.announce(WRITER, "", "RDMA on");
    publish(10, 11);
    Deadline.await(
        "a second sending",
        Duration.ofSeconds(20),
        () -> faulty.count(Question.PUBLISH) == 2,
        () -> faulty.count(Question.PUBLISH));

    assertEquals(2, faulty.count(Question.ANNOUNCE));
    assertEquals(2, registry.records());
    faulty.faults((question, nth) -> Fault.NONE);
    assertEquals(Set.of(10L, 11L), locate(10, 11).outputs().keySet());
    assertEquals(0, faulty.count(Question.AWAIT), "the table is complete");
    assertEquals(List.of(), tooLate);
  }

  /** The connection is reset under the messages, and for a while nobody listens. */
  @Test
  void shouldArriveWhenTheDriverCanBeReachedAgain() throws Exception {
    publisher.announce(WRITER, "", "RDMA on");
    publish(10);
    awaitRecords(1);
    driver.shutdown();
    driver.awaitTermination();

    publish(LongStream.range(100, 3_000).toArray());
    Thread.sleep(1_500);
    driver = env("driver", address.port(), false);
    faulty = FaultyRegistry.open(driver, registry);

    awaitRecords(1 + 2_900);
  }

  @Test
  void shouldHearOfRemovedShufflesOnceWhenTheFirstAnswerIsLost() {
    publisher.announce(WRITER, "", "RDMA on");
    faulty.faults(
        (question, nth) ->
            question == Question.PUBLISH && nth == 0 ? Fault.ANSWER_LOST : Fault.NONE);

    publisher.publish(
        99, new Declined(1, "1", FallbackReason.BUDGET_REACHED), () -> tooLate.add(99));
    Deadline.await(
        "word of the removal", Duration.ofSeconds(20), () -> !tooLate.isEmpty(), () -> tooLate);

    assertEquals(List.of(99), tooLate);
  }

  /** A reducer asks before the mapper's announcement has arrived. */
  @Test
  void shouldWaitForAPeerThatIsNotKnownYet() throws Exception {
    faulty.faults(
        (question, nth) -> question == Question.ANNOUNCE && nth < 2 ? Fault.REFUSED : Fault.NONE);
    publisher.announce(WRITER, "", "RDMA on");
    publish(10);

    Located located = locate(10);

    assertInstanceOf(PeerState.On.class, located.peer());
    assertEquals(Set.of(10L), located.outputs().keySet());
  }

  /** Longer than the driver holds answers back. */
  @Test
  void shouldFindAPeerThatWasNotKnownWhenItWasAskedForFirst() throws Exception {
    assertInstanceOf(PeerState.Off.class, locate(10).peer());
    publisher.announce(WRITER, "", "RDMA on");
    publish(10);
    awaitRecords(1);
    faulty.faults((question, nth) -> Fault.NONE);

    long start = System.nanoTime();
    int asked = 0;
    while (!(locate(10).peer() instanceof PeerState.On)) {
      asked++;
      Thread.sleep(10);
      assertTrue(System.nanoTime() - start < SECONDS.toNanos(15), "found again in time");
    }

    assertTrue(asked > 100, "readers have asked " + asked + " times");
    assertEquals(1, faulty.count(Question.AWAIT), "but the driver was asked once");
    assertEquals(Set.of(10L), locate(10).outputs().keySet());
  }
}
