package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Report;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import dev.verbatim.transport.PeerAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DriverRegistryTest {
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

  /** Shuffles that Spark has. */
  private final Set<Integer> live = new HashSet<>(Set.of(5, 6));

  private final DriverRegistry registry =
      new DriverRegistry(Duration.ofSeconds(20), timer, live::contains);
  private final List<Table> answers = new ArrayList<>();

  @BeforeEach
  void announce() {
    registry.announce(new Announce("1", peer("1"), "RDMA on: rxe0"));
    registry.announce(new Announce("2", null, "RDMA off: NO_DEVICE"));
  }

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  private static PeerAddress peer(String name) {
    return new PeerAddress(name, new InetSocketAddress("10.0.0." + name, 7), 9);
  }

  private List<Integer> publish(int shuffleId, String executorId, long... mapIds) {
    return registry
        .publish(
            new Publish(
                LongStream.of(mapIds)
                    .mapToObj(id -> new Publish.Entry(shuffleId, output(executorId, id)))
                    .toList()))
        .gone();
  }

  private static MapOutputLocation output(String executorId, long mapId) {
    return new Declined(mapId, executorId, FallbackReason.MEMLOCK);
  }

  private static List<Long> ids(Table table) {
    return table.outputs().stream().map(MapOutputLocation::mapId).toList();
  }

  @Test
  void shouldAnswerAtOnceWhenAllRecordsAreThere() {
    publish(5, "1", 10, 11, 12);

    registry.await(new Await(5, "1", new long[] {10, 12}), answers::add);

    assertEquals(List.of(10L, 12L), ids(answers.getFirst()));
    assertInstanceOf(PeerState.On.class, answers.getFirst().peers().getFirst());
  }

  @Test
  void shouldHoldTheAnswerWhenRecordsAreMissingAndReplyWhenTheyCome() {
    publish(5, "1", 10);
    registry.await(new Await(5, "1", new long[] {10, 11}), answers::add);
    assertTrue(answers.isEmpty());

    publish(6, "1", 11);
    assertTrue(answers.isEmpty(), "another shuffle's record does not count");
    publish(5, "1", 11);

    assertEquals(List.of(10L, 11L), ids(answers.getFirst()));
  }

  @Test
  void shouldReplyWithWhatThereIsWhenTheHoldTimeIsOver() throws Exception {
    DriverRegistry hasty = new DriverRegistry(Duration.ofMillis(50), timer, live::contains);
    hasty.announce(new Announce("1", peer("1"), ""));
    hasty.publish(new Publish(List.of(new Publish.Entry(5, output("1", 10)))));
    java.util.concurrent.CompletableFuture<Table> answer =
        new java.util.concurrent.CompletableFuture<>();

    hasty.await(new Await(5, "1", new long[] {10, 11}), answer::complete);

    assertEquals(List.of(10L), ids(answer.get(10, TimeUnit.SECONDS)));
  }

  @Test
  void shouldNotHoldTheAnswerWhenTheExecutorHasRdmaOffOrIsLost() {
    registry.removeExecutor("3");
    registry.await(new Await(5, "2", new long[] {10}), answers::add);
    registry.await(new Await(5, "3", new long[] {10}), answers::add);

    assertEquals(2, answers.size());
    answers.forEach(answer -> assertInstanceOf(PeerState.Off.class, answer.peers().getFirst()));
  }

  @Test
  void shouldHoldTheAnswerWhenTheExecutorHasNotAnnouncedItselfYet() {
    registry.await(new Await(5, "3", new long[] {10}), answers::add);
    registry.await(new Await(6, "4", new long[] {10}), answers::add);
    assertTrue(answers.isEmpty());

    registry.announce(new Announce("3", peer("3"), ""));
    assertTrue(answers.isEmpty(), "its record is still missing");
    publish(5, "3", 10);
    assertInstanceOf(PeerState.On.class, answers.getFirst().peers().getFirst());
    assertEquals(List.of(10L), ids(answers.getFirst()));

    registry.announce(new Announce("4", null, "RDMA off: NO_DEVICE"));
    assertEquals(new PeerState.Off("4", "RDMA off: NO_DEVICE"), answers.get(1).peers().getFirst());
  }

  @Test
  void shouldTakeTheSameMessageTwiceWithoutADifference() {
    ShuffleCounters counters = new ShuffleCounters();
    counters.blockByRdma(42);
    registry.report(new Report("1", counters.snapshot()));
    publish(5, "1", 10, 11);
    Table once = registry.sync(new Sync(5, 0));

    registry.announce(new Announce("1", peer("1"), "RDMA on: rxe0"));
    publish(5, "1", 10, 11);

    assertEquals(once, registry.sync(new Sync(5, 0)), "nothing is added to the log");
    assertEquals(42, registry.report().bytesByRdma());
  }

  @Test
  void shouldIgnoreALateAnnouncementWhenTheExecutorIsLost() {
    registry.removeExecutor("1");
    registry.removeExecutor("3");

    registry.announce(new Announce("1", peer("1"), ""));
    registry.announce(new Announce("3", peer("3"), ""));
    publish(5, "1", 10);
    publish(5, "3", 11);

    assertEquals(0, registry.records());
  }

  @Test
  void shouldReplyAtOnceWhenTheTimerHasStopped() {
    timer.shutdownNow();

    registry.await(new Await(5, "1", new long[] {10}), answers::add);
    registry.removeShuffle(5);

    assertEquals(1, answers.size());
  }

  @Test
  void shouldReplyAndForgetWhenTheExecutorIsLost() {
    publish(5, "1", 10);
    registry.await(new Await(5, "1", new long[] {11}), answers::add);

    registry.removeExecutor("1");

    assertInstanceOf(PeerState.Off.class, answers.getFirst().peers().getFirst());
    assertEquals(0, registry.records());
    publish(5, "1", 12);
    assertEquals(0, registry.records(), "a late record of a lost executor is dropped");
  }

  @Test
  void shouldNotHoldTheAnswerWhenAMapOutputMovedFromALostExecutor() {
    registry.announce(new Announce("3", peer("3"), ""));
    publish(5, "1", 10);
    registry.removeExecutor("1");

    registry.await(new Await(5, "3", new long[] {10}), answers::add);

    assertEquals(List.of(), ids(answers.getFirst()));
  }

  @Test
  void shouldReplyAndForgetWhenTheShuffleIsRemoved() {
    publish(5, "1", 10);
    registry.await(new Await(5, "1", new long[] {11}), answers::add);

    remove(5);

    assertEquals(1, answers.size());
    assertEquals(0, registry.records());
    assertEquals(List.of(5), publish(5, "1", 12));
    assertEquals(0, registry.records(), "a late record of a removed shuffle is dropped");
    registry.await(new Await(5, "1", new long[] {12}), answers::add);
    assertEquals(2, answers.size(), "nothing is held for a removed shuffle");
    assertTrue(answers.getLast().gone());
    assertEquals(new Table(true, 0, false, List.of(), List.of()), registry.sync(new Sync(5, 0)));
  }

  /** As Spark does: its own tracker forgets the shuffle first. */
  private void remove(int shuffleId) {
    live.remove(shuffleId);
    registry.removeShuffle(shuffleId);
  }

  @Test
  void shouldReturnATableInChunksWhenItIsLarge() {
    int maps = 100_000;
    for (int from = 0; from < maps; from += 1000) {
      publish(5, "1", LongStream.range(from, from + 1000).toArray());
    }

    List<Long> seen = new ArrayList<>();
    Table table = registry.sync(new Sync(5, 0));
    seen.addAll(ids(table));
    while (table.more()) {
      assertTrue(table.outputs().size() <= ShuffleTable.CHUNK);
      table = registry.sync(new Sync(5, table.position()));
      seen.addAll(ids(table));
    }

    assertEquals(LongStream.range(0, maps).boxed().toList(), seen);
  }

  /** As the endpoint answers, with how many answers had to be encoded. */
  private List<Long> encoded(int shuffleId, AtomicInteger made) throws Exception {
    MessageCodec codec = new MessageCodec();
    List<Long> seen = new ArrayList<>();
    Table table = new Table(false, 0, true, List.of(), List.of());
    while (table.more()) {
      List<byte[]> replies = new ArrayList<>();
      registry.sync(
          new Sync(shuffleId, table.position()),
          message -> {
            made.incrementAndGet();
            return codec.encode(message);
          },
          replies::add);
      table = (Table) codec.decode(replies.getFirst());
      seen.addAll(ids(table));
    }
    return seen;
  }

  private Table decoded(int shuffleId) throws Exception {
    MessageCodec codec = new MessageCodec();
    List<byte[]> replies = new ArrayList<>();
    registry.sync(new Sync(shuffleId, 0), codec::encode, replies::add);
    return (Table) codec.decode(replies.getFirst());
  }

  @Test
  void shouldEncodeATableOnceWhenManyExecutorsAsk() throws Exception {
    int maps = 2 * ShuffleTable.CHUNK + 10;
    publish(5, "1", LongStream.range(0, maps).toArray());
    AtomicInteger made = new AtomicInteger();

    for (int executor = 0; executor < 20; executor++) {
      assertEquals(LongStream.range(0, maps).boxed().toList(), encoded(5, made));
    }

    assertEquals(3, made.get());
  }

  /** A whole chunk is the end of the log first, and is not later. */
  @Test
  void shouldEncodeAgainWhatHasChangedWhenRecordsCame() throws Exception {
    publish(5, "1", LongStream.range(0, ShuffleTable.CHUNK).toArray());
    AtomicInteger made = new AtomicInteger();
    encoded(5, made);

    publish(5, "1", ShuffleTable.CHUNK);

    assertEquals(ShuffleTable.CHUNK + 1, encoded(5, made).size());
    publish(5, "1", ShuffleTable.CHUNK + 1);
    assertEquals(ShuffleTable.CHUNK + 2, encoded(5, made).size());
    assertEquals(4, made.get());
  }

  @Test
  void shouldNotTellOldAnswersWhenExecutorsOrRecordsHaveChanged() throws Exception {
    registry.announce(new Announce("3", peer("3"), ""));
    publish(5, "1", 10);
    publish(5, "3", 11);
    AtomicInteger made = new AtomicInteger();
    assertEquals(List.of(10L, 11L), encoded(5, made));

    publish(5, "3", 10);
    assertEquals(List.of(11L, 10L), encoded(5, made), "published again by another one");
    registry.removeExecutor("3");
    assertEquals(List.of(), encoded(5, made));
    publish(5, "1", 12);
    encoded(5, made);
    registry.announce(new Announce("1", null, "RDMA off: DEVICE_ERROR"));
    assertInstanceOf(PeerState.Off.class, decoded(5).peers().getFirst());
  }

  /** The bytes are those of its life before. */
  @Test
  void shouldTellThatTheShuffleIsGoneWhenItsAnswerWasKept() throws Exception {
    publish(5, "1", 10);
    encoded(5, new AtomicInteger());
    live.remove(5);

    assertTrue(decoded(5).gone());
  }

  @Test
  void shouldKeepOnlyNewRecordsWhenARemovedShuffleIsRecomputedUnderItsOldId() {
    publish(5, "1", 10, 11);
    remove(5);
    live.add(5);
    Table before = registry.sync(new Sync(5, 0));
    registry.await(new Await(5, "1", new long[] {20}), answers::add);
    assertTrue(answers.isEmpty(), "the record of a recomputed map output is worth waiting for");

    assertEquals(List.of(), publish(5, "1", 20));

    assertEquals(new Table(false, 0, false, List.of(), List.of()), before);
    assertEquals(List.of(20L), ids(answers.getFirst()));
    assertEquals(List.of(20L), ids(registry.sync(new Sync(5, 0))));
  }

  @Test
  void shouldForgetRecordsThatCameBetweenARemovalAndTheTrackersForgetting() {
    publish(5, "1", 10);
    registry.removeShuffle(5);
    publish(5, "1", 11);
    live.remove(5);

    publish(6, "1", 20);

    assertEquals(1, registry.records());
    assertEquals(List.of(20L), ids(registry.sync(new Sync(6, 0))));
  }

  @Test
  void shouldAnswerTheOthersWhenOneAnswerCannotBeSent() {
    registry.await(
        new Await(5, "1", new long[] {10}),
        table -> {
          throw new IllegalStateException("its connection is closed");
        });
    registry.await(new Await(5, "1", new long[] {10}), answers::add);

    publish(5, "1", 10);

    assertEquals(List.of(10L), ids(answers.getFirst()));
  }

  @Test
  void shouldLeaveHolesWhenAnExecutorIsLostInTheMiddle() {
    registry.announce(new Announce("3", peer("3"), ""));
    publish(5, "1", 10);
    publish(5, "3", 11);
    publish(5, "1", 12);
    Table before = registry.sync(new Sync(5, 0));

    registry.removeExecutor("1");
    publish(5, "3", 13);

    assertEquals(List.of(13L), ids(registry.sync(new Sync(5, before.position()))));
    assertEquals(List.of(11L, 13L), ids(registry.sync(new Sync(5, 0))));
  }

  @Test
  void shouldKeepTheCountersWhenAnExecutorIsLost() {
    ShuffleCounters counters = new ShuffleCounters();
    counters.blockByRdma(42);
    registry.report(new Report("1", counters.snapshot()));

    registry.removeExecutor("1");

    assertEquals(42, registry.report().bytesByRdma());
    assertEquals("RDMA on: rxe0", registry.report().executors().get("1").mode());
  }

  @Test
  void shouldKeepTheSumOnlyWhenVeryManyExecutorsWereLost() {
    ShuffleCounters counters = new ShuffleCounters();
    counters.blockByRdma(42);
    int executors = ExecutorLedger.MOST_LOST + 10;
    for (int i = 100; i < 100 + executors; i++) {
      registry.announce(new Announce("" + i, null, "RDMA off"));
      registry.report(new Report("" + i, counters.snapshot()));
      registry.removeExecutor("" + i);
    }
    registry.report(new Report("100", counters.snapshot()));

    assertEquals(42L * executors, registry.report().bytesByRdma());
    assertEquals(2 + ExecutorLedger.MOST_LOST + 1, registry.report().executors().size());
    assertEquals(420, registry.report().executors().get("earlier").counters().bytesByRdma());
  }

  @Test
  void shouldGiveEveryExecutorTheSameSecretWhenItIsAsked() {
    byte[] token = registry.welcome().token();

    assertEquals(32, token.length);
    assertFalse(IntStream.range(0, 32).allMatch(i -> token[i] == 0));
    assertNotEquals(
        java.util.Arrays.toString(token),
        java.util.Arrays.toString(
            new DriverRegistry(Duration.ZERO, timer, live::contains).welcome().token()));
  }
}
