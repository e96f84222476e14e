package dev.verbatim.transport;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;

import dev.verbatim.verbs.Posix;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MapRoomTest {
  private static final long LIMIT = 65_530;
  private static final long RESERVE = LIMIT / 16;
  private static final long SECOND = 1_000_000_000;

  private long mappings = 1_000;
  private long now = -5;
  private int counts;

  private MapRoom room(long limit) {
    return new MapRoom(
        mock(Posix.class),
        limit,
        () -> {
          counts++;
          return mappings;
        },
        () -> now);
  }

  private boolean granted(MapRoom room) {
    try {
      room.take();
      mappings++;
      return true;
    } catch (RegistrationException e) {
      assertEquals(RegistrationException.Kind.MAPPING, e.kind());
      return false;
    }
  }

  @Test
  void shouldGrantAllButTheReserveAndCountSeldom() {
    MapRoom room = room(LIMIT);
    int granted = 0;
    while (granted(room)) {
      granted++;
    }
    assertEquals(LIMIT - RESERVE, mappings);
    assertTrue(granted > 60_000, () -> "counted " + counts + " times");
    assertTrue(counts < 20, () -> counts + " counts");
  }

  /** Others come and go as they like; what is ours never reaches into the reserve. */
  @Test
  void shouldStayOutOfTheReserveWhenOthersMapMemoryToo() {
    Random random = new Random(3);
    for (int run = 0; run < 50; run++) {
      mappings = 1_000;
      MapRoom room = room(LIMIT);
      for (int i = 0; i < 30_000; i++) {
        mappings = Math.max(0, mappings + random.nextInt(-2, 4));
        now += random.nextLong(SECOND / 10);
        long before = mappings;
        if (granted(room)) {
          // Between two counts others may take what was theirs, and a little of ours.
          assertTrue(before < LIMIT - RESERVE / 2, () -> before + " mappings");
        }
      }
    }
  }

  @Test
  void shouldTellLimitAndCountWhenThereIsNoRoomAndLookAgainAfterASecond() throws Exception {
    mappings = LIMIT - 10;
    MapRoom room = room(LIMIT);
    String message = assertThrows(RegistrationException.class, room::take).getMessage();
    assertTrue(message.contains("has 65520 mappings, vm.max_map_count is 65530"), message);
    assertTrue(message.contains("RLIMIT_AS is"), message);
    mappings = 2_000;
    now += SECOND - 1;
    assertThrows(RegistrationException.class, room::take);
    assertEquals(1, counts, "not counted for each that is declined");
    now++;
    room.take();
  }

  @Test
  void shouldPauseWhenTheKernelHasRefused() {
    MapRoom room = room(LIMIT);
    assertTrue(granted(room));
    room.refused();
    assertTrue(!granted(room));
    now += SECOND;
    assertTrue(granted(room));
  }

  @Test
  void shouldGrantWhenTheLimitIsNotKnown() {
    MapRoom room = room(Long.MAX_VALUE);
    assertDoesNotThrow(room::take);
    assertEquals(0, counts);
  }

  @Test
  void shouldKnowThisProcess() throws Exception {
    MapRoom room = MapRoom.ofThisProcess(mock(Posix.class));
    room.take();
    String told = room.describe();
    Process sysctl =
        new ProcessBuilder("cat", "/proc/sys/vm/max_map_count").redirectErrorStream(true).start();
    String limit = new String(sysctl.getInputStream().readAllBytes(), US_ASCII).trim();
    assertTrue(told.contains("vm.max_map_count is " + limit + ","), told);
    long counted = Long.parseLong(told.replaceAll(".* has (\\d+) mappings.*", "$1"));
    long lines = Files.readAllLines(Path.of("/proc/self/maps")).size();
    assertEquals(lines, counted, 100.0, "mappings come and go");
  }
}
