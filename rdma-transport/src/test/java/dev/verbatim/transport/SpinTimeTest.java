package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doAnswer;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SpinTimeTest {
  private static final long MOST = 1_000_000;

  @Test
  void shouldHalveDownToASixteenthAndDoubleUpToAll() {
    SpinTime spin = new SpinTime(Duration.ofNanos(MOST));
    List<Long> times = new ArrayList<>(List.of(spin.nanos()));
    for (int look = 0; look < 6; look++) {
      spin.foundNothing();
      times.add(spin.nanos());
    }
    for (int look = 0; look < 6; look++) {
      spin.found();
      times.add(spin.nanos());
    }
    assertEquals(
        List.of(
            MOST, MOST / 2, MOST / 4, MOST / 8, MOST / 16, MOST / 16, MOST / 16, MOST / 8, MOST / 4,
            MOST / 2, MOST, MOST, MOST),
        times);
  }

  @Test
  void shouldStayAtNothingWhenItIsOff() {
    SpinTime spin = new SpinTime(Duration.ZERO);
    spin.foundNothing();
    spin.found();
    assertEquals(0, spin.nanos());
  }

  /** Without completions first, then with one at each look: how long the poller looks for them. */
  @Test
  @Timeout(60)
  void shouldBeThePollersByWhatItFinds() throws Exception {
    Fabric fabric = new Fabric(new TransportConfig());
    CompletionPoller poller =
        new CompletionPoller(
            fabric.verbs,
            fabric.posix,
            fabric.port.channel(),
            fabric.port.completionQueue(),
            fabric.table,
            Duration.ofNanos(MOST),
            Duration.ofSeconds(10),
            _ -> {},
            Arena.ofAuto());
    List<Long> whenBlocking = new ArrayList<>();
    boolean[] busy = new boolean[1];
    boolean[] whole = new boolean[1];
    int[] polls = new int[1];
    doAnswer(
            call -> {
              whenBlocking.add(poller.spinNanos());
              busy[0] = whenBlocking.size() >= 5;
              return 0;
            })
        .when(fabric.posix)
        .poll(any(), anyInt(), anyInt());
    doAnswer(
            call -> {
              if (busy[0] && poller.spinNanos() == MOST) {
                whole[0] = true;
                poller.stop();
              }
              // By turns: each look begins with nothing.
              return busy[0] && !whole[0] ? polls[0]++ % 2 : 0;
            })
        .when(fabric.verbs)
        .pollCq(any(), anyInt(), any());

    poller.run();

    assertEquals(
        List.of(MOST / 2, MOST / 4, MOST / 8, MOST / 16, MOST / 16), whenBlocking.subList(0, 5));
    assertTrue(whole[0], "it looks as long as ever when that finds something");
  }
}
