package dev.verbatim.shuffle.registry;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** Parts of messages. What is read is bounded by the bytes that are there. */
final class Wire {
  private static final int MOST_TEXT_BYTES = 16 << 10;
  private static final FallbackReason[] REASONS = FallbackReason.values();

  private Wire() {}

  /** Reads a count of elements that take one byte each at least. */
  static int readCount(Input input) {
    int count = input.readVarInt(true);
    int left = input.limit() - input.position();
    if (count < 0 || count > left) {
      throw new IllegalArgumentException("count " + count + " with " + left + " bytes left");
    }
    return count;
  }

  static void writeBytes(Output output, byte[] bytes) {
    output.writeVarInt(bytes.length, true);
    output.writeBytes(bytes);
  }

  static byte[] readBytes(Input input) {
    return input.readBytes(readCount(input));
  }

  static void writeText(Output output, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    writeBytes(output, bytes.length <= MOST_TEXT_BYTES ? bytes : cut(bytes));
  }

  private static byte[] cut(byte[] bytes) {
    return java.util.Arrays.copyOf(bytes, MOST_TEXT_BYTES);
  }

  static String readText(Input input) {
    return new String(readBytes(input), StandardCharsets.UTF_8);
  }

  static void writeSocket(Output output, InetSocketAddress socket) {
    output.writeBoolean(socket != null);
    if (socket != null) {
      writeBytes(output, socket.getAddress().getAddress());
      output.writeVarInt(socket.getPort(), true);
    }
  }

  /** Null where there was none. */
  static InetSocketAddress readSocket(Input input) {
    if (!input.readBoolean()) {
      return null;
    }
    try {
      InetAddress address = InetAddress.getByAddress(readBytes(input));
      return new InetSocketAddress(address, input.readVarInt(true));
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(e);
    }
  }

  static void writeReason(Output output, FallbackReason reason) {
    output.writeVarInt(reason.ordinal(), true);
  }

  static FallbackReason readReason(Input input) {
    return REASONS[input.readVarInt(true)];
  }

  /** The executor is written as a number, because a table names few executors many times. */
  static void writeOutput(Output output, MapOutputLocation location, int executor) {
    output.writeVarLong(location.mapId(), true);
    output.writeVarInt(executor, true);
    switch (location) {
      case Declined declined -> {
        output.writeByte(0);
        writeReason(output, declined.reason());
      }
      case Registered registered -> {
        output.writeByte(1);
        output.writeVarLong(registered.dataLength(), true);
        output.writeVarLong(registered.regionLength(), true);
        output.writeVarInt(registered.regions().size(), true);
        registered.regions().forEach(region -> writeAddress(output, region));
        writeAddress(output, registered.index());
      }
    }
  }

  static MapOutputLocation readOutput(Input input, IntFunction<String> executors) {
    long mapId = input.readVarLong(true);
    String executor = executors.apply(input.readVarInt(true));
    int kind = input.readByte();
    if (kind == 0) {
      return new Declined(mapId, executor, readReason(input));
    }
    if (kind != 1) {
      throw new IllegalArgumentException("kind of map output " + kind);
    }
    long dataLength = input.readVarLong(true);
    long regionLength = input.readVarLong(true);
    int count = readCount(input);
    List<RemoteAddress> regions = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      regions.add(readAddress(input));
    }
    return new Registered(mapId, executor, regions, regionLength, dataLength, readAddress(input));
  }

  private static void writeAddress(Output output, RemoteAddress address) {
    output.writeLong(address.iova());
    output.writeInt(address.rkey());
  }

  private static RemoteAddress readAddress(Input input) {
    return new RemoteAddress(input.readLong(), input.readInt());
  }
}
