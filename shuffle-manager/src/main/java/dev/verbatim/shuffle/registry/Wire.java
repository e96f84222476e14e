package dev.verbatim.shuffle.registry;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import dev.verbatim.transport.PeerAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;

/** Parts of messages. What is read is bounded by the bytes that are there. */
final class Wire {
  /** Fewest bytes of a map output: number of the map, of the executor, kind, reason. */
  static final int LEAST_OUTPUT_BYTES = 4;

  private static final int MOST_TEXT_BYTES = 16 << 10;
  private static final int ADDRESS_BYTES = Long.BYTES + Integer.BYTES;
  private static final int BYTES_OF_REFERENCE = 8;
  private static final FallbackReason[] REASONS = FallbackReason.values();

  private Wire() {}

  /**
   * Reads a count, and refuses one that the bytes left cannot hold.
   *
   * @param least bytes that an element takes at least
   */
  static int readCount(Input input, int least) {
    int count = input.readVarInt(true);
    int left = input.limit() - input.position();
    if (count < 0 || count > left / least) {
      throw new IllegalArgumentException("count " + count + " with " + left + " bytes left");
    }
    return count;
  }

  /**
   * Reads a list; a false count makes it no larger from the start than the bytes that are left.
   *
   * @param least bytes that an element takes at least
   */
  static <T> List<T> readList(Input input, int least, Function<Input, T> element) {
    int count = readCount(input, least);
    int left = input.limit() - input.position();
    List<T> elements = new ArrayList<>(Math.min(count, left / BYTES_OF_REFERENCE));
    for (int i = 0; i < count; i++) {
      elements.add(element.apply(input));
    }
    return elements;
  }

  static void writeBytes(Output output, byte[] bytes) {
    output.writeVarInt(bytes.length, true);
    output.writeBytes(bytes);
  }

  static byte[] readBytes(Input input) {
    return input.readBytes(readCount(input, 1));
  }

  static void writeText(Output output, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    writeBytes(output, bytes.length <= MOST_TEXT_BYTES ? bytes : cut(bytes));
  }

  private static byte[] cut(byte[] bytes) {
    return java.util.Arrays.copyOf(bytes, MOST_TEXT_BYTES);
  }

  static String readText(Input input) {
    byte[] bytes = readBytes(input);
    if (bytes.length > MOST_TEXT_BYTES) {
      throw new IllegalArgumentException("text of " + bytes.length + " bytes");
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Without the name. */
  static void writePeer(Output output, PeerAddress peer) {
    output.writeBoolean(peer != null);
    if (peer != null) {
      writeBytes(output, peer.address().getAddress().getAddress());
      output.writeVarInt(peer.address().getPort(), true);
      output.writeLong(peer.challenge());
    }
  }

  /** Null where there was none. */
  static PeerAddress readPeer(Input input, String name) {
    if (!input.readBoolean()) {
      return null;
    }
    try {
      InetAddress address = InetAddress.getByAddress(readBytes(input));
      int port = input.readVarInt(true);
      return new PeerAddress(name, new InetSocketAddress(address, port), input.readLong());
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

  /**
   * The index address of the record before, in the same message: an executor's indexes lie side by
   * side in few regions, so that mostly the distance says it all.
   */
  static final class LastIndex {
    private RemoteAddress address;

    private boolean isInRegionOf(RemoteAddress other) {
      return address != null && address.rkey() == other.rkey();
    }

    private void write(Output output, RemoteAddress index) {
      output.writeVarLong(index.iova() - address.iova(), false);
    }

    private RemoteAddress read(Input input) {
      if (address == null) {
        throw new IllegalArgumentException("an index address relative to none");
      }
      return new RemoteAddress(address.iova() + input.readVarLong(false), address.rkey());
    }
  }

  /** The executor is written as a number, because a table names few executors many times. */
  static void writeOutput(
      Output output, MapOutputLocation location, int executor, LastIndex lastIndex) {
    output.writeVarLong(location.mapId(), true);
    output.writeVarInt(executor, true);
    switch (location) {
      case Declined declined -> {
        output.writeByte(0);
        writeReason(output, declined.reason());
      }
      case Registered registered when registered.regionLength() == registered.dataLength() -> {
        // Nearly all: what is copied, and what is mapped but for huge files.
        boolean near = lastIndex.isInRegionOf(registered.index());
        output.writeByte(near ? 3 : 2);
        output.writeVarLong(registered.dataLength(), true);
        writeAddress(output, registered.regions().getFirst());
        if (near) {
          lastIndex.write(output, registered.index());
        } else {
          writeAddress(output, registered.index());
        }
        lastIndex.address = registered.index();
      }
      case Registered registered -> {
        output.writeByte(1);
        output.writeVarLong(registered.dataLength(), true);
        output.writeVarLong(registered.regionLength(), true);
        output.writeVarInt(registered.regions().size(), true);
        registered.regions().forEach(region -> writeAddress(output, region));
        writeAddress(output, registered.index());
        lastIndex.address = registered.index();
      }
    }
  }

  static MapOutputLocation readOutput(
      Input input, IntFunction<String> executors, LastIndex lastIndex) {
    long mapId = input.readVarLong(true);
    String executor = executors.apply(input.readVarInt(true));
    int kind = input.readByte();
    if (kind == 0) {
      return new Declined(mapId, executor, readReason(input));
    }
    if (kind < 1 || kind > 3) {
      throw new IllegalArgumentException("kind of map output " + kind);
    }
    long dataLength = input.readVarLong(true);
    long regionLength = kind == 1 ? input.readVarLong(true) : dataLength;
    List<RemoteAddress> regions =
        kind == 1 ? readList(input, ADDRESS_BYTES, Wire::readAddress) : List.of(readAddress(input));
    lastIndex.address = kind == 3 ? lastIndex.read(input) : readAddress(input);
    return new Registered(mapId, executor, regions, regionLength, dataLength, lastIndex.address);
  }

  private static void writeAddress(Output output, RemoteAddress address) {
    output.writeLong(address.iova());
    output.writeInt(address.rkey());
  }

  private static RemoteAddress readAddress(Input input) {
    return new RemoteAddress(input.readLong(), input.readInt());
  }
}
