package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.transport.EndpointException;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.measure.MeasureConfig;
import dev.verbatim.transport.measure.MeasuredOperation;
import dev.verbatim.transport.measure.Measurement;
import dev.verbatim.transport.measure.ReadMeasure;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Measurements by a transport's connection: nothing here judges how fast they are. */
class ReadMeasureDeviceTest extends DeviceTest {
  private static final int BYTES = 100_003;

  private RdmaTransport reader;
  private PeerConnection connection;
  private MemoryRegion region;
  private ReadBuffer buffer;

  @BeforeEach
  void connect() throws Exception {
    RdmaTransport server = open("server");
    reader = open(Transports.config("reader").qpsPerPeer(2));
    connection = Transports.connect(reader, Transports.address("server", server));
    region = patternRegion(server, BYTES);
    buffer = reader.tryAcquire(BYTES).orElseThrow();
  }

  @AfterEach
  void release() {
    buffer.release();
  }

  private ReadMeasure measure() {
    return new ReadMeasure(connection, region.iova(), region.rkey(), buffer);
  }

  @ParameterizedTest
  @CsvSource({"64, 1, 10, 200", "100003, 8, 0, 100", "100003, 8, 20, 3", "100003, 300, 1, 1000"})
  void shouldReadAsOftenAsItIsTold(long bytes, int depth, int warmUp, int iterations)
      throws Exception {
    MeasureConfig config =
        new MeasureConfig().bytes(bytes).depth(depth).warmUp(warmUp).iterations(iterations);

    Measurement result = measure().run(config);

    assertEquals(iterations, result.messages());
    assertEquals(warmUp + iterations, reader.counters().readsCompleted());
    assertEquals((warmUp + iterations) * bytes, reader.counters().readBytes());
    Pattern.assertEqualTo(buffer.segment().asSlice(0, bytes), 0);
    assertTrue(
        0 < result.minNanos()
            && result.medianNanos() <= result.maxNanos()
            && result.maxNanos() <= result.nanos(),
        result.toString());
  }

  @Test
  void shouldReadForATimeAndBeDoneThen() throws Exception {
    Duration time = Duration.ofMillis(300);

    Measurement result = measure().run(new MeasureConfig().bytes(4096).depth(4).duration(time));

    assertTrue(result.nanos() >= Duration.ofMillis(250).toNanos(), result.toString());
    assertEquals(100 + result.messages(), reader.counters().readsCompleted());
  }

  @Test
  void shouldSayThatAReadFailed() {
    ReadMeasure wrong = new ReadMeasure(connection, region.iova(), ~region.rkey(), buffer);

    String why =
        assertThrows(EndpointException.class, () -> wrong.run(new MeasureConfig().depth(4)))
            .getMessage();

    assertContains(REFUSED.name(), why);
    assertThrows(EndpointException.class, () -> measure().run(new MeasureConfig()), "it is down");
  }

  @Test
  void shouldRefuseWhatItCannotMeasure() {
    for (MeasureConfig config :
        new MeasureConfig[] {
          new MeasureConfig().operation(MeasuredOperation.WRITE),
          new MeasureConfig().queuePairs(2),
          new MeasureConfig().depth(0)
        }) {
      assertThrows(IllegalArgumentException.class, () -> measure().run(config));
    }
    MeasureConfig tooLong = new MeasureConfig().bytes(BYTES + 1);
    assertThrows(IndexOutOfBoundsException.class, () -> measure().run(tooLong));
    assertEquals(0, reader.counters().readsCompleted());
  }
}
