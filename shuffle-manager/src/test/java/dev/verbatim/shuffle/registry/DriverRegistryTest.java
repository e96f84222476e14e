package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Report;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import dev.verbatim.shuffle.registry.Message.Taken;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DriverRegistryTest extends DriverRegistryFixture {
  @Test
  void shouldTakeTheSameMessageTwiceWithoutADifference() {
    ShuffleCounters counters = new ShuffleCounters();
    counters.blockByRdma(42);
    registry.report(new Report("1", counters.snapshot()));
    publish(5, "1", 10, 11);
    Table once = registry.sync(new Sync(5, 0));

    registry.announce(new Announce("1", peer("1"), "rxe0 port 1", "RDMA on: rxe0"));
    publish(5, "1", 10, 11);

    assertEquals(once, registry.sync(new Sync(5, 0)), "nothing is added to the log");
    assertEquals(42, registry.report().bytesByRdma());
  }

  @Test
  void shouldKeepOrRefuseEachRecordWhenAMessageMixesShufflesAndExecutors() {
    Taken taken =
        registry.publish(
            new Publish(
                List.of(
                    new Publish.Entry(5, output("1", 10)),
                    new Publish.Entry(7, output("1", 11)),
                    new Publish.Entry(5, output("unknown", 12)),
                    new Publish.Entry(6, output("2", 13)),
                    new Publish.Entry(6, output("1", 14)),
                    new Publish.Entry(7, output("unknown", 15)),
                    new Publish.Entry(5, output("1", 16)))));

    assertEquals(List.of(7), taken.gone());
    assertEquals(List.of(10L, 16L), ids(registry.sync(new Sync(5, 0))));
    Table other = registry.sync(new Sync(6, 0));
    assertEquals(List.of(13L, 14L), ids(other));
    assertEquals(List.of("2", "1"), other.peers().stream().map(PeerState::executorId).toList());
    assertEquals(4, registry.records());
  }

  @Test
  void shouldIgnoreALateAnnouncementWhenTheExecutorIsLost() {
    registry.removeExecutor("1");
    registry.removeExecutor("3");

    registry.announce(new Announce("1", peer("1"), "", ""));
    registry.announce(new Announce("3", peer("3"), "", ""));
    publish(5, "1", 10);
    publish(5, "3", 11);

    assertEquals(0, registry.records());
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
  void shouldLeaveHolesWhenAnExecutorIsLostInTheMiddle() {
    registry.announce(new Announce("3", peer("3"), "", ""));
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
  void shouldGiveEveryExecutorTheSameSecretWhenItIsAsked() {
    byte[] token = registry.welcome().token();

    assertEquals(32, token.length);
    assertFalse(IntStream.range(0, 32).allMatch(i -> token[i] == 0));
    assertNotEquals(
        Arrays.toString(token),
        Arrays.toString(
            new DriverRegistry(Duration.ZERO, timer, live::contains).welcome().token()));
  }
}
