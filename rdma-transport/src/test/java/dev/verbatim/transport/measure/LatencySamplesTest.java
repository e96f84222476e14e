package dev.verbatim.transport.measure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LatencySamplesTest {
  @Test
  void shouldBeExactWhenThereAreFew() {
    LatencySamples samples = new LatencySamples();
    List<Long> nanos = new ArrayList<>();
    for (long i = 1; i <= 10_000; i++) {
      nanos.add(i);
    }
    Collections.shuffle(nanos, new Random(3));
    nanos.forEach(samples::add);
    assertArrayEquals(new long[] {1, 5000, 9900, 10_000}, samples.quantiles(0, 0.5, 0.99, 1));
    assertEquals(1, samples.min());
    assertEquals(10_000, samples.max());
    assertEquals(5000.5, samples.average());
    assertEquals(10_000, samples.count());
  }

  @Test
  void shouldChooseFairlyWhenThereAreMany() {
    LatencySamples samples = new LatencySamples();
    int count = 4 * LatencySamples.MOST;
    for (int i = 1; i <= count; i++) { // rising: a choice of the first or the last ones would show
      samples.add(i);
    }
    assertEquals(count, samples.count());
    assertEquals(1, samples.min());
    assertEquals(count, samples.max());
    assertEquals((count + 1) / 2.0, samples.average());
    long[] quantiles = samples.quantiles(0.5, 0.99);
    assertEquals(0.5 * count, quantiles[0], 0.005 * count);
    assertEquals(0.99 * count, quantiles[1], 0.005 * count);
  }

  @Test
  void shouldAnswerNothingWhenThereIsNone() {
    LatencySamples samples = new LatencySamples();
    assertArrayEquals(new long[] {0}, samples.quantiles(0.5));
    assertEquals(0, samples.min() + samples.max() + samples.count());
    assertEquals(0, samples.average());
  }
}
