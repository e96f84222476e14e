package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleOutputs;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import dev.verbatim.shuffle.registry.Message.Publish;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ShuffleOutputsTest extends DriverRegistryFixture {
  private static MapOutputLocation registered(long mapId, String executorId, long bytes) {
    RemoteAddress address = new RemoteAddress(mapId << 20, 1);
    return new Registered(mapId, executorId, List.of(address), bytes, bytes, address);
  }

  private void publish(int shuffleId, MapOutputLocation... outputs) {
    registry.publish(
        new Publish(Stream.of(outputs).map(o -> new Publish.Entry(shuffleId, o)).toList()));
  }

  @Test
  void shouldCountOutputsOfEachShuffleWhenTheyArePublished() {
    publish(5, registered(1, "1", 100), registered(2, "1", 11));
    publish(
        6,
        registered(3, "1", 7),
        new Declined(4, "1", FallbackReason.MEMLOCK),
        new Declined(5, "2", FallbackReason.MEMLOCK));

    assertEquals(
        Map.of(
            5, new ShuffleOutputs(true, 2, 111, Map.of()),
            6, new ShuffleOutputs(true, 1, 7, Map.of(FallbackReason.MEMLOCK, 2L))),
        registry.shuffles());
  }

  @Test
  void shouldCountOnceWhenARecordComesAgainOrAnotherInItsPlace() {
    publish(5, registered(1, "1", 100));
    publish(5, registered(1, "1", 100));
    assertEquals(new ShuffleOutputs(true, 1, 100, Map.of()), registry.shuffles().get(5));

    publish(5, new Declined(1, "1", FallbackReason.MEMLOCK));
    publish(5, registered(1, "1", 30));
    assertEquals(new ShuffleOutputs(true, 1, 30, Map.of()), registry.shuffles().get(5));
  }

  @Test
  void shouldNotCountOutputsOfALostExecutor() {
    publish(
        5,
        registered(1, "1", 100),
        registered(2, "2", 10),
        new Declined(3, "1", FallbackReason.MEMLOCK));

    registry.removeExecutor("1");

    assertEquals(new ShuffleOutputs(true, 1, 10, Map.of()), registry.shuffles().get(5));
  }

  @Test
  void shouldTellHowAShuffleWasWhenItWasRemovedUntilItIsComputedAgain() {
    publish(5, registered(1, "1", 100));
    remove(5);
    assertEquals(new ShuffleOutputs(false, 1, 100, Map.of()), registry.shuffles().get(5));

    live.add(5);
    publish(5, registered(9, "1", 3));
    assertEquals(new ShuffleOutputs(true, 1, 3, Map.of()), registry.shuffles().get(5));
  }

  @Test
  void shouldForgetTheFirstOnesWhenVeryManyShufflesWereRemoved() {
    for (int id = 100; id < 110 + ShuffleTables.MOST_ENDED; id++) {
      live.add(id);
      publish(id, registered(id, "1", 1));
      remove(id);
    }
    assertEquals(ShuffleTables.MOST_ENDED, registry.shuffles().size());
    assertFalse(registry.shuffles().containsKey(109));
    assertTrue(registry.shuffles().containsKey(110));
  }
}
