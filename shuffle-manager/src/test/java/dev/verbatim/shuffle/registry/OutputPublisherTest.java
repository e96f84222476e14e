package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.timeout;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.registry.Message.Publish;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class OutputPublisherTest {
  private static final IllegalStateException LOST = new IllegalStateException("no driver");

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final DriverLink driver = mock(DriverLink.class);
  private final CompletableFuture<Void> announced = new CompletableFuture<>();
  private final BlockingQueue<CompletableFuture<List<Integer>>> answers =
      new LinkedBlockingQueue<>();
  private final BlockingQueue<Publish> sent = new LinkedBlockingQueue<>();
  private final List<String> tooLate = Collections.synchronizedList(new ArrayList<>());
  private final ShuffleCounters counters = new ShuffleCounters();
  private final OutputPublisher publisher = publisher(Duration.ofHours(1), Duration.ofHours(1));

  private OutputPublisher publisher(Duration delay, Duration longestGathering) {
    return new OutputPublisher(
        driver, counters, timer, delay, longestGathering, Duration.ofHours(1), Duration.ofNanos(1));
  }

  @BeforeEach
  void start() {
    when(driver.announce(any(), anyString(), anyString())).thenReturn(announced);
    when(driver.publish(any()))
        .thenAnswer(
            call -> {
              CompletableFuture<List<Integer>> answer = new CompletableFuture<>();
              answers.add(answer);
              sent.add(call.getArgument(0));
              return answer;
            });
    publisher.announce(null, "", "RDMA off");
  }

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  private void publishBatch() {
    for (int i = 0; i < OutputPublisher.MOST_RECORDS; i++) {
      int shuffleId = i < 2 ? 5 : 6;
      MapOutputLocation output = new Declined(i, "1", FallbackReason.MEMLOCK);
      publisher.publish(shuffleId, output, () -> tooLate.add(shuffleId + "/" + output.mapId()));
    }
  }

  /** The next message, within some seconds. */
  private Publish sent() throws InterruptedException {
    Publish message = sent.poll(10, TimeUnit.SECONDS);
    assertTrue(message != null, "a batch is sent");
    return message;
  }

  @Test
  void shouldTellThePublishersWhenTheirShuffleIsNoMore() throws Exception {
    announced.complete(null);
    publishBatch();
    assertEquals(OutputPublisher.MOST_RECORDS, sent().entries().size());

    answers.take().complete(List.of(5));

    assertEquals(List.of("5/0", "5/1"), tooLate);
  }

  @Test
  void shouldSendRecordsAgainUntilTheDriverHasTakenThem() throws Exception {
    announced.complete(null);
    publishBatch();
    Publish first = sent();

    answers.take().completeExceptionally(LOST);
    assertEquals(first, sent());
    answers.take().completeExceptionally(LOST);
    assertEquals(first, sent());
    answers.take().complete(List.of(5));

    // The timer's thread may be about to wait for the answer.
    while (tooLate.size() < 2) {
      Thread.onSpinWait();
    }
    assertEquals(List.of("5/0", "5/1"), tooLate, "told once");
    assertTrue(sent.isEmpty(), "nothing more is sent");
  }

  @Test
  void shouldGiveRecordsUpWhenTheDriverHasNotAnsweredForLong() throws Exception {
    announced.complete(null);
    publishBatch();
    for (int i = 0; i < Persistence.MOST_ATTEMPTS; i++) {
      sent();
      answers.take().completeExceptionally(LOST);
    }

    assertEquals(List.of(), tooLate);
    publishBatch();
    sent();
    verify(driver, times(Persistence.MOST_ATTEMPTS + 1)).publish(any());
  }

  /** The driver would not keep records of an executor that it does not know. */
  @Test
  void shouldSendNoRecordsBeforeTheAnnouncementHasArrived() throws Exception {
    publishBatch();
    verify(driver, never()).publish(any());

    when(driver.announce(any(), anyString(), anyString()))
        .thenReturn(CompletableFuture.completedFuture(null));
    announced.completeExceptionally(LOST);

    assertEquals(OutputPublisher.MOST_RECORDS, sent().entries().size());
    verify(driver, times(2)).announce(null, "", "RDMA off");
  }

  /** The driver does not take them before. */
  @Test
  void shouldReportTheCountersAgainWhenTheAnnouncementHasArrived() {
    counters.blockByRdma(42);
    publisher.report();
    publisher.report();
    verify(driver, times(1)).report(counters.snapshot());

    announced.complete(null);

    verify(driver, times(2)).report(counters.snapshot());
  }

  @Test
  void shouldReportTheCountersWhenTheLastTaskThatReadsEnds() {
    publisher.readTaskBegins();
    publisher.readTaskBegins();
    counters.blockByRdma(42);
    publisher.readTaskEnds();
    verify(driver, never()).report(any());

    publisher.readTaskEnds();
    verify(driver).report(counters.snapshot());

    publisher.readTaskBegins();
    publisher.readTaskEnds();
    verify(driver, times(1)).report(any());
  }

  @Test
  void shouldAnnounceAgainWithTheNextRecordsWhenTheDriverHasNotAnsweredForLong() throws Exception {
    when(driver.announce(any(), anyString(), anyString()))
        .thenReturn(CompletableFuture.failedFuture(LOST));
    announced.completeExceptionally(LOST);
    verify(driver, timeout(10_000).times(Persistence.MOST_ATTEMPTS))
        .announce(any(), anyString(), anyString());
    publishBatch();
    verify(driver, timeout(10_000).atLeast(Persistence.MOST_ATTEMPTS + 1))
        .announce(any(), anyString(), anyString());

    when(driver.announce(any(), anyString(), anyString()))
        .thenReturn(CompletableFuture.completedFuture(null));
    sent.poll(1, TimeUnit.SECONDS); // this batch may still have been given up
    sent.clear();
    publishBatch();

    assertEquals(OutputPublisher.MOST_RECORDS, sent().entries().size());
  }

  @Test
  void shouldKeepNoMoreThanSoManyRecordsWhenTheDriverDoesNotAnswer() throws Exception {
    announced.complete(null);
    int batches = OutputPublisher.MOST_PENDING / OutputPublisher.MOST_RECORDS;
    for (int i = 0; i < batches + 3; i++) {
      publishBatch();
    }

    verify(driver, times(batches)).publish(any());

    answers.take().complete(List.of());
    publishBatch();

    verify(driver, times(batches + 1)).publish(any());
  }

  private static MapOutputLocation output(long mapId) {
    return new Declined(mapId, "1", FallbackReason.MEMLOCK);
  }

  private static List<Long> ids(Publish message) {
    return message.entries().stream().map(entry -> entry.output().mapId()).toList();
  }

  private static List<Long> ids(long from, long to) {
    return LongStream.range(from, to).boxed().toList();
  }

  /** A publisher that gathers for a millisecond, or longer where it has reason to. */
  private OutputPublisher prompt(Duration longestGathering) {
    announced.complete(null);
    OutputPublisher prompt = publisher(Duration.ofMillis(1), longestGathering);
    prompt.announce(null, "", "RDMA off");
    return prompt;
  }

  private void assertNothingIsSent() throws InterruptedException {
    assertNull(sent.poll(50, TimeUnit.MILLISECONDS));
  }

  @Test
  void shouldSendRecordsTogetherWhenTheLastMapTaskOfTheirShuffleHasEnded() throws Exception {
    OutputPublisher prompt = prompt(Duration.ofHours(1));
    for (int map = 0; map < 3; map++) {
      prompt.mapTaskBegins(5);
    }
    prompt.mapTaskEnds(5);
    prompt.publish(5, output(0), () -> {});
    prompt.mapTaskEnds(5);
    prompt.publish(5, output(1), () -> {});
    assertNothingIsSent();

    prompt.mapTaskEnds(5);
    assertEquals(ids(0, 2), ids(sent()));
    answers.take().complete(List.of());
    prompt.publish(5, output(2), () -> {});
    assertEquals(ids(2, 3), ids(sent()), "registered after its task has ended");
  }

  @Test
  void shouldNotLetRecordsWaitForMapTasksOfAnotherShuffle() throws Exception {
    OutputPublisher prompt = prompt(Duration.ofHours(1));
    prompt.mapTaskBegins(5);
    prompt.mapTaskBegins(6);
    prompt.publish(5, output(0), () -> {});
    prompt.publish(6, output(1), () -> {});
    assertNothingIsSent();

    prompt.mapTaskEnds(6);
    assertEquals(ids(0, 2), ids(sent()));
    answers.take().complete(List.of());
    prompt.publish(5, output(2), () -> {});
    assertNothingIsSent();
    prompt.publish(6, output(3), () -> {});
    assertEquals(ids(2, 4), ids(sent()));
  }

  @Test
  void shouldSendFullBatchesAndWhatHasWaitedLongWhenAMapTaskDoesNotEnd() throws Exception {
    OutputPublisher prompt = prompt(Duration.ofMillis(200));
    prompt.mapTaskBegins(5);
    int most = OutputPublisher.MOST_RECORDS;
    for (int i = 0; i < most; i++) {
      prompt.publish(5, output(i), () -> {});
    }
    assertEquals(ids(0, most), ids(sent()));
    answers.take().complete(List.of());

    for (int i = 0; i < 2; i++) {
      long start = System.nanoTime();
      prompt.publish(5, output(i), () -> {});
      assertEquals(ids(i, i + 1), ids(sent()));
      assertTrue(System.nanoTime() - start >= 200_000_000, "sooner than it must");
      answers.take().complete(List.of());
    }
  }

  @Test
  void shouldNotGatherForLongerThanReadersWait() throws Exception {
    announced.complete(null);
    OutputPublisher prompt =
        new OutputPublisher(
            driver,
            counters,
            timer,
            Duration.ofMillis(1),
            Duration.ofMillis(100),
            Duration.ofHours(1));
    prompt.announce(null, "", "RDMA off");
    prompt.mapTaskBegins(5);

    long start = System.nanoTime();
    prompt.publish(5, output(0), () -> {});
    sent();

    Duration gathered = Duration.ofNanos(System.nanoTime() - start);
    assertTrue(gathered.compareTo(OutputPublisher.LONGEST_GATHERING) < 0, gathered.toString());
  }

  @Test
  void shouldSendAtOnceWhenTheTimerHasStopped() throws Exception {
    OutputPublisher prompt = prompt(Duration.ofHours(1));
    prompt.mapTaskBegins(5);
    timer.shutdownNow();

    prompt.publish(5, output(0), () -> {});

    assertEquals(ids(0, 1), ids(sent()));
  }
}
