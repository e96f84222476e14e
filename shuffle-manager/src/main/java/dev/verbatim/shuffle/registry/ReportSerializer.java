package dev.verbatim.shuffle.registry;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.registry.Message.Report;
import dev.verbatim.transport.LatencyCounts;
import dev.verbatim.transport.TransportCounters;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** Kryo serializer for an executor's counters: numbers of variable length, most of them small. */
final class ReportSerializer extends Serializer<Report> {

  @Override
  public void write(Kryo kryo, Output output, Report message) {
    CounterSnapshot counters = message.counters();
    Wire.writeText(output, message.executorId());
    writeNumbers(
        output,
        counters.blocksByRdma(),
        counters.bytesByRdma(),
        counters.blocksByTcp(),
        counters.bytesByTcp(),
        counters.outputsRegistered(),
        counters.outputsDeclined(),
        counters.registeredBytes(),
        counters.regions(),
        counters.registerNanos(),
        counters.handOverNanos());
    writeCounts(output, counters.fallbacks(), Wire::writeReason);
    write(output, counters.transport());
  }

  @Override
  public Report read(Kryo kryo, Input input, Class<Report> type) {
    String executorId = Wire.readText(input);
    long[] values = readNumbers(input, 10);
    Map<FallbackReason, Long> fallbacks = new EnumMap<>(FallbackReason.class);
    readCounts(input, fallbacks, Wire::readReason);
    return new Report(
        executorId,
        new CounterSnapshot(
            values[0],
            values[1],
            values[2],
            values[3],
            values[4],
            values[5],
            values[6],
            values[7],
            values[8],
            values[9],
            fallbacks,
            readTransport(input)));
  }

  private static void write(Output output, TransportCounters counters) {
    writeNumbers(
        output,
        counters.portsActive(),
        counters.devicesLost(),
        counters.readsCompleted(),
        counters.readBytes(),
        counters.connectsInitiated(),
        counters.reconnects(),
        counters.connectsFailed(),
        counters.connectsAccepted(),
        counters.queuePairs(),
        counters.memoryRegions(),
        counters.registeredBytes(),
        counters.mappings(),
        counters.poolBytes(),
        counters.poolUsedBytes());
    writeCounts(
        output, counters.readLatency().byBucket(), (out, bucket) -> out.writeVarInt(bucket, true));
    writeCounts(output, counters.readFailures(), Wire::writeText);
    writeCounts(output, counters.connectsRefused(), Wire::writeText);
    writeCounts(output, counters.asyncEvents(), Wire::writeText);
  }

  private static TransportCounters readTransport(Input input) {
    long[] values = readNumbers(input, 14);
    Map<Integer, Long> latency = new TreeMap<>();
    readCounts(input, latency, in -> in.readVarInt(true));
    return new TransportCounters(
        (int) values[0],
        (int) values[1],
        values[2],
        values[3],
        LatencyCounts.of(latency),
        readNamed(input),
        values[4],
        values[5],
        values[6],
        values[7],
        readNamed(input),
        (int) values[8],
        (int) values[9],
        values[10],
        (int) values[11],
        values[12],
        values[13],
        readNamed(input));
  }

  private static void writeNumbers(Output output, long... values) {
    for (long value : values) {
      output.writeVarLong(value, true);
    }
  }

  private static long[] readNumbers(Input input, int count) {
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      values[i] = input.readVarLong(true);
    }
    return values;
  }

  private static <K> void writeCounts(
      Output output, Map<K, Long> counts, BiConsumer<Output, K> writeKey) {
    output.writeVarInt(counts.size(), true);
    counts.forEach(
        (key, count) -> {
          writeKey.accept(output, key);
          output.writeVarLong(count, true);
        });
  }

  private static <K> void readCounts(Input input, Map<K, Long> counts, Function<Input, K> readKey) {
    for (int left = Wire.readCount(input, 2); left > 0; left--) {
      counts.put(readKey.apply(input), input.readVarLong(true));
    }
  }

  private static Map<String, Long> readNamed(Input input) {
    Map<String, Long> counts = new TreeMap<>();
    readCounts(input, counts, Wire::readText);
    return counts;
  }
}
