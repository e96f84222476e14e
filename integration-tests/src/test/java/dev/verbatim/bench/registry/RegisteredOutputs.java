package dev.verbatim.bench.registry;

import dev.verbatim.shuffle.fallback.FallbackLog;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.registry.DriverLink;
import dev.verbatim.shuffle.registry.OutputPublisher;
import dev.verbatim.shuffle.writer.MapOutputFiles;
import dev.verbatim.shuffle.writer.OutputRegistrar;
import dev.verbatim.shuffle.writer.RegistrarProbe;
import dev.verbatim.shuffle.writer.RegistrationBudget;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.TransportConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.spark.rpc.RpcEndpointRef;

/** The write side of an executor, which registers the same small map output again and again. */
final class RegisteredOutputs implements AutoCloseable {
  private static final int BYTES = 16 << 10;
  private static final int REDUCERS = 16;

  private final int outputs;
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
  private final ShuffleCounters counters = new ShuffleCounters();
  private final Path data = Files.createTempFile("shuffle", ".data");
  private final Path index = Files.createTempFile("shuffle", ".index");
  private final RdmaTransport transport = open();
  private final OutputRegistrar registrar;
  private int shuffleId = 1000;
  private long registered;

  /**
   * @param driver registry to which executor 1 is lost, so that it keeps none of its records
   * @param mapped each data file is mapped, as large ones are; otherwise copied, as small ones are
   */
  RegisteredOutputs(RpcEndpointRef driver, int outputs, boolean mapped) throws IOException {
    this.outputs = outputs;
    Files.write(data, new byte[BYTES]);
    ByteBuffer offsets = ByteBuffer.allocate((REDUCERS + 1) * Long.BYTES);
    for (int i = 0; i <= REDUCERS; i++) {
      offsets.putLong((long) i * BYTES / REDUCERS);
    }
    Files.write(index, offsets.array());
    DriverLink link = new DriverLink(driver, "1", Duration.ofMinutes(1));
    OutputPublisher publisher =
        new OutputPublisher(
            link,
            counters,
            timer,
            Duration.ofMillis(5),
            Duration.ofSeconds(2),
            Duration.ofHours(1));
    publisher.announce(null, "", "simulated");
    registrar =
        new OutputRegistrar(
            transport,
            publisher,
            "1",
            counters,
            new FallbackLog(),
            Executors.newSingleThreadExecutor(),
            new RegistrationBudget(1L << 40),
            mapped ? 0 : 1 << 20,
            Map.of(data.getParent(), transport.probe(data.getParent())));
  }

  private static RdmaTransport open() throws IOException {
    return switch (RdmaTransport.open(new TransportConfig().localName("memory"))) {
      case OpenResult.Opened opened -> opened.transport();
      case OpenResult.Unavailable none -> throw new IOException(none.toString());
    };
  }

  /** Bytes of data and indexes that {@link #register} registers. */
  long bytes() {
    return outputs * (BYTES + (REDUCERS + 1L) * Long.BYTES);
  }

  long registeredBytes() {
    return transport.counters().registeredBytes();
  }

  /** Registers a new shuffle's map outputs. */
  void register() throws InterruptedException {
    shuffleId++;
    registered += outputs;
    for (int map = 0; map < outputs; map++) {
      RegistrarProbe.submit(registrar, new MapOutputFiles(shuffleId, map, data, index));
    }
    while (counters.snapshot().outputsRegistered() != registered) {
      if (counters.snapshot().outputsDeclined() != 0) {
        throw new IllegalStateException(counters.snapshot().toString());
      }
      Thread.sleep(10);
    }
    Thread.sleep(500); // until the last records are sent
  }

  /** Removes that shuffle, and returns when nothing of it is registered. */
  void remove() throws InterruptedException {
    registrar.remove(shuffleId);
    long before = -1;
    while (registeredBytes() != before) {
      before = registeredBytes();
      Thread.sleep(500);
    }
  }

  @Override
  public void close() throws IOException {
    registrar.close();
    transport.close();
    timer.shutdownNow();
    Files.delete(data);
    Files.delete(index);
  }
}
