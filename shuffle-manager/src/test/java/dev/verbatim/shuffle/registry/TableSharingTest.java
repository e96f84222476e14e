package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Shared;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TableSharingTest {
  private static final int MAPS = 2 * ShuffleTable.CHUNK + 100;

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final MessageCodec codec = new MessageCodec();
  private final List<List<byte[]>> shared = new ArrayList<>();
  private final List<Integer> closed = new ArrayList<>();
  private long leastBytes = 10_000;
  private RuntimeException failure;
  private boolean live = true;

  private final DriverRegistry registry =
      new DriverRegistry(
          Duration.ZERO,
          timer,
          shuffleId -> live,
          new TableSharing() {
            @Override
            public long leastBytes() {
              return leastBytes;
            }

            @Override
            public SharedTable share(List<byte[]> chunks) {
              return share(chunks, shared.size());
            }

            private SharedTable share(List<byte[]> chunks, int number) {
              shared.add(chunks);
              if (failure != null) {
                throw failure;
              }
              return new SharedTable() {
                @Override
                public byte[] reference() {
                  return new byte[] {(byte) number};
                }

                @Override
                public void close() {
                  closed.add(number);
                }
              };
            }
          });

  @BeforeEach
  void announce() {
    registry.announce(new Announce("1", null, "", "RDMA off"));
    registry.announce(new Announce("2", null, "", "RDMA off"));
  }

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  private void publish(String executorId, long from, long to) {
    registry.publish(
        new Publish(
            LongStream.range(from, to)
                .mapToObj(
                    id ->
                        new Publish.Entry(
                            5, new Declined(id, executorId, FallbackReason.BUDGET_REACHED)))
                .toList()));
  }

  private Message ask(Sync question) throws Exception {
    CompletableFuture<byte[]> reply = new CompletableFuture<>();
    registry.sync(question, codec::encode, reply::complete);
    return codec.decode(reply.get(10, TimeUnit.SECONDS));
  }

  private Message ask() throws Exception {
    return ask(new Sync(5, 0));
  }

  /** What is closed, after what the registry's thread had to do before. */
  private List<Integer> closed() throws Exception {
    CountDownLatch done = new CountDownLatch(1);
    timer.execute(done::countDown);
    done.await();
    return closed;
  }

  @Test
  void shouldShareALargeTableOnceWhenManyExecutorsAsk() throws Exception {
    publish("1", 0, MAPS);

    for (int executor = 0; executor < 20; executor++) {
      Shared answer = assertInstanceOf(Shared.class, ask());
      assertArrayEquals(new byte[] {0}, answer.reference());
      assertEquals(MAPS, answer.position());
      assertEquals(false, answer.more());
    }

    assertEquals(1, shared.size());
    List<Long> seen = new ArrayList<>();
    for (byte[] chunk : shared.getFirst()) {
      ((Table) codec.decode(chunk))
          .outputs().stream().map(MapOutputLocation::mapId).forEach(seen::add);
    }
    assertEquals(LongStream.range(0, MAPS).boxed().toList(), seen);
  }

  @Test
  void shouldSendTheRecordsWhenTheTableIsSmallOrTheExecutorWantsThem() throws Exception {
    publish("1", 0, 100);
    assertInstanceOf(Table.class, ask());
    publish("1", 100, MAPS);

    Table own = assertInstanceOf(Table.class, ask(new Sync(5, 0).unshared()));
    assertEquals(ShuffleTable.CHUNK, own.outputs().size());
    Table later = assertInstanceOf(Table.class, ask(new Sync(5, ShuffleTable.CHUNK)));
    assertEquals(ShuffleTable.CHUNK, later.outputs().size());
    assertEquals(0, shared.size());
  }

  @Test
  void shouldSendLaterRecordsAfterTheSharedOnesAndShareAgainWhenTheTableHasDoubled()
      throws Exception {
    publish("1", 0, MAPS);
    ask();
    publish("1", MAPS, MAPS + 10);

    Shared first = assertInstanceOf(Shared.class, ask());
    assertTrue(first.more());
    assertEquals(10, ((Table) ask(new Sync(5, first.position()))).outputs().size());

    publish("1", MAPS + 10, 2 * MAPS);
    Shared second = assertInstanceOf(Shared.class, ask());
    assertArrayEquals(new byte[] {1}, second.reference());
    assertEquals(2 * MAPS, second.position());
    assertEquals(List.of(0), closed());
  }

  @Test
  void shouldGiveUpWhatIsSharedWhenTheShuffleIsRemoved() throws Exception {
    publish("1", 0, MAPS);
    ask();

    live = false;
    registry.removeShuffle(5);

    assertEquals(List.of(0), closed());
    assertTrue(assertInstanceOf(Table.class, ask()).gone());
  }

  @Test
  void shouldShareAgainWhenAnExecutorWithRecordsIsLostAndNotForOthers() throws Exception {
    publish("1", 0, MAPS);
    publish("2", MAPS, MAPS + 10);
    ask();
    registry.announce(new Announce("3", null, "", "RDMA off"));
    registry.removeExecutor("3");
    registry.announce(new Announce("1", null, "", "RDMA off"));
    publish("1", 0, 10);
    ask();
    assertEquals(1, shared.size(), "what was said again is nothing new");

    registry.removeExecutor("2");
    ask();

    assertEquals(2, shared.size());
    assertEquals(List.of(0), closed());
  }

  @Test
  void shouldSendTheRecordsWhenSharingFails() throws Exception {
    failure = new IllegalStateException("no room");
    publish("1", 0, MAPS);

    assertEquals(ShuffleTable.CHUNK, assertInstanceOf(Table.class, ask()).outputs().size());
    assertInstanceOf(Table.class, ask());
    assertEquals(1, shared.size(), "it is not tried again for each executor");
  }

  @Test
  void shouldSendTheRecordsWhenTheApplicationEnds() throws Exception {
    publish("1", 0, MAPS);
    timer.shutdownNow();

    assertInstanceOf(Table.class, ask());
  }
}
