package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.transport.PeerAddress;
import java.net.InetSocketAddress;
import java.util.List;

/** Makes and reads what executors and the registry send, for benches that count bytes and time. */
public final class RegistryProbe {
  private final MessageCodec codec = new MessageCodec();

  /**
   * How far an answer goes.
   *
   * @param position to go on from
   * @param more whether there is more from there on
   * @param records in this answer, or where it refers to
   */
  public record Progress(int position, boolean more, int records) {}

  public byte[] announce(String executorId) {
    InetSocketAddress address = new InetSocketAddress("10.0.0.1", 4791);
    return codec.encode(
        new Message.Announce(
            executorId, new PeerAddress(executorId, address, 42), "", "simulated"));
  }

  public byte[] publish(int shuffleId, List<MapOutputLocation> outputs) {
    return codec.encode(
        new Message.Publish(
            outputs.stream().map(output -> new Message.Publish.Entry(shuffleId, output)).toList()));
  }

  public byte[] sync(int shuffleId, int position) {
    return codec.encode(new Message.Sync(shuffleId, position));
  }

  /** Of an answer to who has asked from a position on. */
  public Progress progress(int position, byte[] answer) {
    return switch (decode(answer)) {
      case Message.Table table ->
          new Progress(table.position(), table.more(), table.outputs().size());
      // A log without holes.
      case Message.Shared shared ->
          new Progress(shared.position(), shared.more(), shared.position() - position);
      case Message other -> throw new IllegalArgumentException(other.toString());
    };
  }

  /** Gives a registry what an executor announces or publishes, as bytes that came from it. */
  public void take(DriverRegistry registry, byte[] message) {
    switch (decode(message)) {
      case Message.Announce announce -> registry.announce(announce);
      case Message.Publish publish -> registry.publish(publish);
      case Message other -> throw new IllegalArgumentException(other.toString());
    }
  }

  private Message decode(byte[] bytes) {
    try {
      return codec.decode(bytes);
    } catch (MalformedMessageException e) {
      throw new IllegalStateException(e);
    }
  }
}
