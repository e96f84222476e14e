package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class KeptAnswersTest extends DriverRegistryFixture {
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
    registry.announce(new Announce("3", peer("3"), "", ""));
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
    registry.announce(new Announce("1", null, "", "RDMA off: DEVICE_ERROR"));
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
}
