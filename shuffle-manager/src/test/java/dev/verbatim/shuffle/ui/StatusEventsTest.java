package dev.verbatim.shuffle.ui;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.util.JsonProtocol;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import scala.Option;

class StatusEventsTest {
  private final List<SparkListenerRdmaStatus> posted = new ArrayList<>();
  private RdmaStatus now = Rows.many(2);
  private long nanos = -7;
  private boolean lossy;
  private final StatusEvents events =
      new StatusEvents(() -> now, this::queue, this::write, () -> nanos);

  /** As the bus does when it is not behind. */
  private void queue(SparkListenerEvent event) {
    if (!lossy) {
      write(event);
      events.onOtherEvent(event);
    }
  }

  private void write(SparkListenerEvent event) {
    posted.add((SparkListenerRdmaStatus) event);
  }

  private void end() {
    events.onApplicationEnd(new SparkListenerApplicationEnd(1, Option.empty()));
  }

  private void tickAfter(Duration time) {
    nanos += time.toNanos();
    events.tick();
  }

  @Test
  void shouldTellAllOnceAndThenWhatHasChanged() {
    tickAfter(StatusEvents.FIRST_PAUSE);
    assertEquals(now.executors(), posted.getFirst().executors());
    assertEquals(now.shuffles(), posted.getFirst().shuffles());
    tickAfter(StatusEvents.LONGEST_PAUSE);
    assertEquals(1, posted.size(), "nothing has changed");

    now =
        Rows.status(
            List.of(now.executors().getFirst(), Rows.executor("1", 99)),
            List.of(now.shuffles().getLast(), Rows.shuffle(7, 7)));
    tickAfter(StatusEvents.LONGEST_PAUSE);
    assertEquals(
        new SparkListenerRdmaStatus(
            now.application(),
            List.of(Rows.executor("1", 99)),
            List.of(Rows.shuffle(7, 7)),
            List.of(),
            List.of(0)),
        posted.getLast());
    assertEquals(2, posted.size());
  }

  @Test
  void shouldTellLessAndLessOftenWhenItChangesOnAndOn() {
    long changes = Duration.ofHours(1).toMillis() / 500;
    for (int i = 0; i < changes; i++) {
      now = Rows.status(List.of(Rows.executor("1", i)), List.of());
      tickAfter(Duration.ofMillis(500));
    }
    // 5, 10, 20, 40, 80, 160 seconds, and then each 300.
    assertTrue(posted.size() > 14 && posted.size() < 20, () -> posted.size() + " events");
  }

  @Test
  void shouldBoundEachEventAndTellEveryRowInTheEnd() {
    now = Rows.many(2500);
    end();
    assertEquals(5, posted.size());
    assertTrue(
        posted.stream()
            .allMatch(e -> e.executors().size() + e.shuffles().size() <= StatusEvents.MOST_ROWS));
    assertEquals(now.executors(), posted.stream().flatMap(e -> e.executors().stream()).toList());
    assertEquals(now.shuffles(), posted.stream().flatMap(e -> e.shuffles().stream()).toList());

    now = Rows.many(3000);
    end();
    tickAfter(StatusEvents.LONGEST_PAUSE);
    assertEquals(5, posted.size(), "the application has ended");
  }

  @Test
  void shouldTellRowsInTurnsWhenMoreChangeThanOneEventHolds() {
    Map<String, ExecutorRow> told = new HashMap<>();
    for (int round = 1; round <= 3; round++) {
      long bytes = round;
      now =
          Rows.status(
              Stream.iterate(0, i -> i + 1)
                  .limit(2500)
                  .map(i -> Rows.executor("" + i, bytes))
                  .toList(),
              List.of());
      tickAfter(StatusEvents.LONGEST_PAUSE);
      posted.getLast().executors().forEach(row -> told.put(row.id(), row));
    }
    assertEquals(2500, told.size());
  }

  @Test
  void shouldTellAgainWhatTheQueueHasDropped() {
    lossy = true;
    tickAfter(StatusEvents.FIRST_PAUSE);
    assertEquals(List.of(), posted);
    end();
    assertEquals(now.executors(), posted.getFirst().executors());
    assertEquals(now.shuffles(), posted.getFirst().shuffles());
  }

  @Test
  void shouldHaveTheLastWordWhenAnOlderEventWasBehindTheEnd() {
    SparkListenerRdmaStatus older =
        new SparkListenerRdmaStatus(
            now.application(), List.of(Rows.executor("1", 1)), List.of(), List.of("0"), List.of());
    now = Rows.status(List.of(Rows.executor("0", 2), Rows.executor("1", 2)), List.of());
    end();
    posted.clear();
    events.onOtherEvent(older);
    assertEquals(1, posted.size());
    assertEquals(Set.copyOf(now.executors()), Set.copyOf(posted.getFirst().executors()));
  }

  @Test
  void shouldBeReadAsItWasWrittenByTheEventLog() {
    end();
    String json = JsonProtocol.sparkEventToJsonString(posted.getFirst());
    assertTrue(json.contains(SparkListenerRdmaStatus.class.getName()), json);
    assertTrue(!json.contains("\n"), json);
    assertEquals(posted.getFirst(), JsonProtocol.sparkEventFromJson(json));
    assertTrue(json.length() / 4 < 500, () -> json.length() / 4 + " bytes for a row");
  }

  @Test
  void shouldBeReadWhenAnotherVersionHasWrittenMoreOrLess() throws Exception {
    end();
    ObjectNode json =
        (ObjectNode)
            new ObjectMapper().readTree(JsonProtocol.sparkEventToJsonString(posted.getFirst()));
    json.put("later", 1).remove("forgottenShuffles");
    ((ObjectNode) json.get("executors").get(0)).put("later", 1).remove("fallbacks");
    SparkListenerRdmaStatus read =
        (SparkListenerRdmaStatus) JsonProtocol.sparkEventFromJson(json.toString());
    assertEquals(List.of(), read.forgottenShuffles());
    assertEquals(Map.of(), read.executors().getFirst().fallbacks());
    assertEquals(posted.getFirst().executors().getLast(), read.executors().getLast());
  }

  /** What Spark's readers of event logs take for an event to be left out. */
  @Test
  void shouldBeAnUnknownClassWhereThereIsNoSuchClass() {
    end();
    String json = JsonProtocol.sparkEventToJsonString(posted.getFirst());
    String elsewhere = json.replace("SparkListenerRdmaStatus", "SparkListenerElsewhere");
    Assertions.assertThrows(
        ClassNotFoundException.class, () -> JsonProtocol.sparkEventFromJson(elsewhere));
  }
}
