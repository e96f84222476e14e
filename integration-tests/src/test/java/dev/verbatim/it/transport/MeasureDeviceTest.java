package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.machine.Iwarp;
import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.EndpointException;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.measure.Measure;
import dev.verbatim.transport.measure.MeasureConfig;
import dev.verbatim.transport.measure.MeasureServer;
import dev.verbatim.transport.measure.MeasuredOperation;
import dev.verbatim.transport.measure.Measurement;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Measurements between endpoints: nothing here judges how fast they are. */
class MeasureDeviceTest extends DeviceTest {
  private EndpointGroup group(String name) throws Exception {
    return group(name, new EndpointConfig());
  }

  @ParameterizedTest
  @EnumSource
  void shouldMeasureLatencyAndBandwidth(MeasuredOperation operation) throws Exception {
    EndpointGroup near = group("near");
    try (MeasureServer server = MeasureServer.listen(group("far"), 0)) {
      Measure measure = new Measure(near, server.address());
      MeasureConfig small = new MeasureConfig().operation(operation).bytes(8).iterations(200);
      assertPlausible(small, measure.run(small.warmUp(10)), 200);

      MeasureConfig large =
          new MeasureConfig()
              .operation(operation)
              .bytes(100_003)
              .depth(8)
              .queuePairs(3)
              .warmUp(0)
              .iterations(100);
      assertPlausible(large, measure.run(large), 100);
    }
  }

  private static void assertPlausible(MeasureConfig config, Measurement result, long messages) {
    assertEquals(config.operation(), result.operation());
    assertEquals(config.bytes(), result.bytes());
    assertEquals(config.depth(), result.depth());
    assertEquals(config.queuePairs(), result.queuePairs());
    assertEquals(messages, result.messages());
    assertTrue(
        0 < result.minNanos()
            && result.minNanos() <= result.medianNanos()
            && result.medianNanos() <= result.p99Nanos()
            && result.p99Nanos() <= result.maxNanos()
            && result.minNanos() <= result.averageNanos()
            && result.averageNanos() <= result.maxNanos()
            && result.maxNanos() <= result.nanos(),
        result.toString());
    assertTrue(result.megabytesPerSecond() > 0 && result.messagesPerSecond() > 0);
  }

  /** SENDs wait for receives, and the server's word of them for a place in its send queue. */
  @ParameterizedTest
  @CsvSource({"1, 1", "1, 2", "2, 1", "2, 2", "4, 3", "1, 5"})
  void shouldSendNoMoreThanTheServerHasReceivesFor(int sendDepth, int receiveDepth)
      throws Exception {
    if (receiveDepth > 2) {
      Iwarp.assumeAbsent("rdma_create_qp failed here on siw, see docs/soft-roce.md");
    }
    EndpointGroup near = group("near", new EndpointConfig().sendDepth(16).receiveDepth(2));
    EndpointConfig small =
        new EndpointConfig().sendDepth(sendDepth).receiveDepth(receiveDepth).rnrRetry(0);
    try (MeasureServer server = MeasureServer.listen(group("far", small), 0)) {
      Measure measure = new Measure(near, server.address());
      MeasureConfig config =
          new MeasureConfig()
              .operation(MeasuredOperation.SEND)
              .bytes(100)
              .depth(8)
              .queuePairs(2)
              .warmUp(7)
              .iterations(300);
      assertPlausible(config, measure.run(config), 300);
      assertTrue(measure.run(config.duration(Duration.ofMillis(300))).messages() > 0);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldMeasureFewerMessagesThanThereAreQueuePairs(MeasuredOperation operation)
      throws Exception {
    EndpointGroup near = group("near");
    try (MeasureServer server = MeasureServer.listen(group("far"), 0)) {
      MeasureConfig config =
          new MeasureConfig().operation(operation).bytes(100).queuePairs(4).warmUp(0).iterations(2);
      assertPlausible(config, new Measure(near, server.address()).run(config), 2);
    }
  }

  @Test
  void shouldSayWhichDepthIsTooSmall() throws Exception {
    EndpointConfig one = new EndpointConfig().receiveDepth(1);
    try (MeasureServer server = MeasureServer.listen(group("far", one), 0)) {
      Measure measure = new Measure(group("near", one), server.address());
      MeasureConfig send = new MeasureConfig().operation(MeasuredOperation.SEND);
      assertContains(
          "receiveDepth = 1",
          assertThrows(IllegalArgumentException.class, () -> measure.run(send)).getMessage());
      MeasureConfig pingPong = new MeasureConfig().operation(MeasuredOperation.PING_PONG).depth(2);
      Measure deeper = new Measure(group("deeper", new EndpointConfig()), server.address());
      assertContains(
          "depth = 2 is more than the receiveDepth of",
          assertThrows(EndpointException.class, () -> deeper.run(pingPong)).getMessage());
    }
  }

  @Test
  void shouldMeasureForATime() throws Exception {
    EndpointGroup near = group("near");
    try (MeasureServer server = MeasureServer.listen(group("far"), 0)) {
      MeasureConfig config =
          new MeasureConfig()
              .operation(MeasuredOperation.WRITE)
              .bytes(4096)
              .depth(4)
              .duration(Duration.ofMillis(300));
      Measurement result = new Measure(near, server.address()).run(config);
      assertTrue(result.nanos() >= Duration.ofMillis(250).toNanos(), result.toString());
      assertTrue(result.messages() > 4, result.toString());
    }
  }

  @Test
  void shouldMeasureAnotherProcess() throws Exception {
    EndpointGroup near = group("near");
    MeasureServerProcess server = MeasureServerProcess.start();
    try {
      for (MeasuredOperation operation : MeasuredOperation.values()) {
        MeasureConfig config =
            new MeasureConfig().operation(operation).bytes(65_536).depth(4).iterations(100);
        assertPlausible(config, new Measure(near, server.address()).run(config), 100);
      }
    } finally {
      server.end();
    }
  }

  @Test
  void shouldFailWhenTheOtherProcessIsKilled() throws Exception {
    EndpointGroup near = group("near");
    MeasureServerProcess server = MeasureServerProcess.start();
    MeasureConfig endless =
        new MeasureConfig().bytes(65_536).depth(4).duration(Duration.ofMinutes(5));
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    Thread.ofPlatform()
        .start(
            () -> {
              try {
                new Measure(near, server.address()).run(endless);
                end.complete(null);
              } catch (Throwable e) {
                end.complete(e);
              }
            });
    Thread.sleep(1000);
    assertFalse(end.isDone(), "it measures");
    server.kill();
    assertInstanceOf(EndpointException.class, end.get(60, TimeUnit.SECONDS));
  }

  @Test
  void shouldSayWhyWhenItCannotMeasure() throws Exception {
    EndpointGroup near = group("near");
    InetSocketAddress nobody = new InetSocketAddress(near.address(), 1);
    MeasureConfig config = new MeasureConfig();
    assertContains(
        "no connection",
        assertThrows(EndpointException.class, () -> new Measure(near, nobody).run(config))
            .getMessage());
    assertContains(
        "sendDepth",
        assertThrows(
                IllegalArgumentException.class,
                () -> new Measure(near, nobody).run(new MeasureConfig().depth(1000)))
            .getMessage());
    // A listener that speaks another language.
    InetSocketAddress other =
        group("other").listen(0, request -> request.accept(new EndpointRecorder()));
    assertContains(
        "no server to measure against",
        assertThrows(EndpointException.class, () -> new Measure(near, other).run(config))
            .getMessage());
  }
}
