package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.registry.Message.Publish;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OutputPublisherTest {
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final DriverLink driver = mock(DriverLink.class);
  private final CompletableFuture<List<Integer>> answer = new CompletableFuture<>();
  private final List<Publish> sent = new ArrayList<>();
  private final List<String> tooLate = new ArrayList<>();
  private final OutputPublisher publisher =
      new OutputPublisher(
          driver, new ShuffleCounters(), timer, Duration.ofHours(1), Duration.ofHours(1));

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  private void publishBatch() {
    when(driver.publish(any()))
        .thenAnswer(
            call -> {
              sent.add(call.getArgument(0));
              return answer;
            });
    for (int i = 0; i < OutputPublisher.MOST_RECORDS; i++) {
      int shuffleId = i < 2 ? 5 : 6;
      MapOutputLocation output = new Declined(i, "1", FallbackReason.MEMLOCK);
      publisher.publish(shuffleId, output, () -> tooLate.add(shuffleId + "/" + output.mapId()));
    }
  }

  @Test
  void shouldTellThePublishersWhenTheirShuffleIsNoMore() {
    publishBatch();
    assertEquals(OutputPublisher.MOST_RECORDS, sent.getFirst().entries().size());

    answer.complete(List.of(5));

    assertEquals(List.of("5/0", "5/1"), tooLate);
  }

  @Test
  void shouldTellNobodyWhenTheDriverDoesNotAnswer() {
    publishBatch();

    answer.completeExceptionally(new IllegalStateException("no driver"));

    assertEquals(List.of(), tooLate);
  }
}
