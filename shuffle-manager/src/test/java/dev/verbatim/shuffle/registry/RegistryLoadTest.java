package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.transport.PeerAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A large application: 1,000 executors, 100,000 map outputs, many readers that wait for each. */
class RegistryLoadTest {
  private static final int EXECUTORS = 1000;
  private static final int MAPS_EACH = 100;
  private static final int READERS = 300;
  private static final int SHUFFLE = 5;

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final DriverRegistry registry =
      new DriverRegistry(Duration.ofHours(1), timer, shuffleId -> shuffleId == SHUFFLE);
  private int answers;

  /** A look at each of 300,000 for each of 1,000 messages takes a minute and more. */
  @Test
  @Timeout(40)
  void shouldNotLookAtEveryHeldQuestionForEachRecord() {
    for (int executor = 0; executor < EXECUTORS; executor++) {
      registry.announce(
          new Announce(
              "" + executor,
              new PeerAddress("" + executor, new InetSocketAddress("10.0.0.1", 7), executor),
              "rxe0 port 1",
              "RDMA on"));
    }
    List<Await> questions =
        IntStream.range(0, EXECUTORS)
            .mapToObj(executor -> new Await(SHUFFLE, "" + executor, mapIds(executor)))
            .toList();
    for (int reader = 0; reader < READERS; reader++) {
      for (int executor = 0; executor < EXECUTORS; executor++) {
        registry.await(questions.get(executor), table -> answers++);
      }
    }
    assertEquals(0, answers);

    for (int executor = 0; executor < EXECUTORS; executor++) {
      List<Publish.Entry> entries = new ArrayList<>();
      for (long mapId : mapIds(executor)) {
        entries.add(
            new Publish.Entry(
                SHUFFLE, new Declined(mapId, "" + executor, FallbackReason.BUDGET_REACHED)));
      }
      registry.publish(new Publish(entries));
    }

    assertEquals(READERS * EXECUTORS, answers);
  }

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  private static long[] mapIds(int executor) {
    long[] ids = new long[MAPS_EACH];
    for (int i = 0; i < MAPS_EACH; i++) {
      ids[i] = (long) i * EXECUTORS + executor;
    }
    return ids;
  }
}
