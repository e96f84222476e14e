package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;
import static org.mockito.Mockito.withSettings;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.sun.management.ThreadMXBean;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Report;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Registry messages of any content, up to what driver and executors do with sound ones. */
class MessageFuzzTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** What Kryo, Jazzer and exceptions take, whatever the message. */
  private static final long FIXED_BYTES = 1 << 20;

  /** Never used: nothing is held back here. */
  private static final ScheduledExecutorService TIMER = Executors.newScheduledThreadPool(0);

  /** A table is asked for once, and the records that it lacks once each. */
  private static final int MOST_TABLES = 2000;

  private final MessageCodec codec = new MessageCodec();
  private int tables;

  static Stream<byte[]> seeds() {
    MessageCodec codec = new MessageCodec();
    return Stream.concat(
            MessageCodecTest.messages(),
            Stream.of(
                new Message.Welcome(new byte[32]),
                new Message.Shared(new byte[32], 1, true),
                new Await(1, "2", new long[] {1, 1L << 40})))
        .map(codec::encode);
  }

  @MethodSource("seeds")
  @FuzzTest
  void shouldRefuseOrTake(byte[] data) throws Exception {
    Message message;
    long before = THREADS.getCurrentThreadAllocatedBytes();
    try {
      message = codec.decode(data);
    } catch (MalformedMessageException expected) {
      message = null;
    }
    long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
    assertTrue(
        allocated <= FIXED_BYTES + 100L * data.length,
        () -> allocated + " bytes allocated for a message of " + data.length);
    if (message != null) {
      byte[] again = codec.encode(message);
      assertArrayEquals(again, codec.encode(codec.decode(again)));
      deliver(message);
    }
  }

  /** What executors do with a table, which is the answer to all that they ask. */
  private void locate(Table table) {
    tables = 0;
    DriverLink link = mock(DriverLink.class, withSettings().stubOnly());
    when(link.askTable(any()))
        .thenAnswer(
            question ->
                tables++ < MOST_TABLES
                    ? CompletableFuture.completedFuture(table)
                    : CompletableFuture.failedFuture(new IllegalStateException("enough")));
    MapOutputTables copies = new MapOutputTables(link);
    for (MapOutputLocation output : table.outputs()) {
      Located located = copies.locate(0, output.executorId(), new long[] {output.mapId()}).join();
      assertTrue(located.outputs().size() <= 1);
      assertEquals(output.executorId(), located.peer().executorId());
    }
    assertTrue(tables < MOST_TABLES, "questions without end");
  }

  /** As {@link RegistryEndpoint} does it. */
  private void deliver(Message message) {
    DriverRegistry registry = new DriverRegistry(Duration.ZERO, TIMER, shuffleId -> shuffleId == 0);
    registry.announce(new Announce("1", null, "", ""));
    registry.announce(new Announce("12", null, "", ""));
    switch (message) {
      case Announce announce -> registry.announce(announce);
      case Publish publish -> {
        codec.encode(registry.publish(publish));
        assertTrue(registry.records() <= publish.entries().size());
        codec.encode(registry.sync(new Sync(0, 0)));
      }
      case Report report -> registry.report(report);
      case Sync sync -> registry.sync(sync, codec::encode, answer -> {});
      case Await await -> registry.await(await, codec::encode);
      case Table table -> locate(table);
      case Message.Hello hello -> codec.encode(registry.welcome());
      case Message.Welcome welcome -> {}
      case Message.Taken taken -> {}
      // What it refers to is Spark's to read.
      case Message.Shared shared -> {}
    }
    registry.report().describe();
  }
}
