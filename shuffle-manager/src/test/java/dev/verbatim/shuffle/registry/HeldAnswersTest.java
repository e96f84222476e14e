package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HeldAnswersTest extends DriverRegistryFixture {
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
    hasty.announce(new Announce("1", peer("1"), "", ""));
    hasty.publish(new Publish(List.of(new Publish.Entry(5, output("1", 10)))));
    CompletableFuture<Table> answer = new CompletableFuture<>();

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

    registry.announce(new Announce("3", peer("3"), "", ""));
    assertTrue(answers.isEmpty(), "its record is still missing");
    publish(5, "3", 10);
    assertInstanceOf(PeerState.On.class, answers.getFirst().peers().getFirst());
    assertEquals(List.of(10L), ids(answers.getFirst()));

    registry.announce(new Announce("4", null, "", "RDMA off: NO_DEVICE"));
    assertEquals(new PeerState.Off("4", "RDMA off: NO_DEVICE"), answers.get(1).peers().getFirst());
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
    registry.announce(new Announce("3", peer("3"), "", ""));
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
}
