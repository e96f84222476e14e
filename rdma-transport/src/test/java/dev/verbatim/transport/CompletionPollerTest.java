package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doAnswer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CompletionPollerTest {
  /** Each time that it wakes up for nothing costs a processor that a task may want. */
  @ParameterizedTest
  @CsvSource({"100, 10", "2000, 100", "10000, 500", "600000, 500"})
  void shouldSleepNoLongerThanATwentiethOfTheReadTimeout(long timeoutMillis, int wanted)
      throws Exception {
    Fabric fabric = new Fabric(new TransportConfig().readTimeout(Duration.ofMillis(timeoutMillis)));
    List<Integer> slept = new ArrayList<>();
    doAnswer(
            call -> {
              slept.add(call.getArgument(2));
              fabric.poller.stop();
              return 0;
            })
        .when(fabric.posix)
        .poll(any(), anyInt(), anyInt());

    fabric.poller.run();

    assertEquals(List.of(wanted), slept);
  }
}
