package dev.verbatim.shuffle.registry;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Hello;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Shared;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import dev.verbatim.shuffle.registry.Message.Taken;
import dev.verbatim.shuffle.registry.Message.Welcome;
import dev.verbatim.transport.PeerAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One Kryo serializer for each message but {@link Message.Report}. */
final class MessageSerializers {
  private MessageSerializers() {}

  static final class ForHello extends Serializer<Hello> {
    @Override
    public void write(Kryo kryo, Output output, Hello message) {
      Wire.writeText(output, message.executorId());
    }

    @Override
    public Hello read(Kryo kryo, Input input, Class<Hello> type) {
      return new Hello(Wire.readText(input));
    }
  }

  static final class ForWelcome extends Serializer<Welcome> {
    @Override
    public void write(Kryo kryo, Output output, Welcome message) {
      Wire.writeBytes(output, message.token());
    }

    @Override
    public Welcome read(Kryo kryo, Input input, Class<Welcome> type) {
      return new Welcome(Wire.readBytes(input));
    }
  }

  static final class ForAnnounce extends Serializer<Announce> {
    @Override
    public void write(Kryo kryo, Output output, Announce message) {
      Wire.writeText(output, message.executorId());
      Wire.writePeer(output, message.listener());
      Wire.writeText(output, message.device());
      Wire.writeText(output, message.mode());
    }

    @Override
    public Announce read(Kryo kryo, Input input, Class<Announce> type) {
      String executorId = Wire.readText(input);
      return new Announce(
          executorId, Wire.readPeer(input, executorId), Wire.readText(input), Wire.readText(input));
    }
  }

  static final class ForPublish extends Serializer<Publish> {
    @Override
    public void write(Kryo kryo, Output output, Publish message) {
      Executors executors = new Executors();
      message.entries().forEach(entry -> executors.number(entry.output().executorId()));
      executors.write(output);
      output.writeVarInt(message.entries().size(), true);
      Wire.LastIndex lastIndex = new Wire.LastIndex();
      for (Publish.Entry entry : message.entries()) {
        output.writeVarInt(entry.shuffleId(), true);
        int executor = executors.number(entry.output().executorId());
        Wire.writeOutput(output, entry.output(), executor, lastIndex);
      }
    }

    @Override
    public Publish read(Kryo kryo, Input input, Class<Publish> type) {
      List<String> executors = Executors.read(input);
      Wire.LastIndex lastIndex = new Wire.LastIndex();
      return new Publish(
          Wire.readList(
              input,
              1 + Wire.LEAST_OUTPUT_BYTES,
              in -> {
                int shuffleId = in.readVarInt(true);
                return new Publish.Entry(shuffleId, Wire.readOutput(in, executors::get, lastIndex));
              }));
    }
  }

  static final class ForSync extends Serializer<Sync> {
    @Override
    public void write(Kryo kryo, Output output, Sync message) {
      output.writeVarInt(message.shuffleId(), true);
      output.writeVarInt(message.position(), true);
      output.writeBoolean(message.shareable());
    }

    @Override
    public Sync read(Kryo kryo, Input input, Class<Sync> type) {
      return new Sync(input.readVarInt(true), input.readVarInt(true), input.readBoolean());
    }
  }

  static final class ForShared extends Serializer<Shared> {
    @Override
    public void write(Kryo kryo, Output output, Shared message) {
      Wire.writeBytes(output, message.reference());
      output.writeVarInt(message.position(), true);
      output.writeBoolean(message.more());
    }

    @Override
    public Shared read(Kryo kryo, Input input, Class<Shared> type) {
      return new Shared(Wire.readBytes(input), input.readVarInt(true), input.readBoolean());
    }
  }

  static final class ForAwait extends Serializer<Await> {
    @Override
    public void write(Kryo kryo, Output output, Await message) {
      output.writeVarInt(message.shuffleId(), true);
      Wire.writeText(output, message.executorId());
      output.writeVarInt(message.mapIds().length, true);
      // Of fixed size, so that the receiver can tell from the bytes whether the count is true.
      output.writeLongs(message.mapIds());
    }

    @Override
    public Await read(Kryo kryo, Input input, Class<Await> type) {
      int shuffleId = input.readVarInt(true);
      String executorId = Wire.readText(input);
      return new Await(shuffleId, executorId, input.readLongs(Wire.readCount(input, Long.BYTES)));
    }
  }

  static final class ForTaken extends Serializer<Taken> {
    @Override
    public void write(Kryo kryo, Output output, Taken message) {
      output.writeVarInt(message.gone().size(), true);
      message.gone().forEach(shuffleId -> output.writeVarInt(shuffleId, true));
    }

    @Override
    public Taken read(Kryo kryo, Input input, Class<Taken> type) {
      return new Taken(Wire.readList(input, 1, in -> in.readVarInt(true)));
    }
  }

  static final class ForTable extends Serializer<Table> {
    @Override
    public void write(Kryo kryo, Output output, Table message) {
      output.writeBoolean(message.gone());
      output.writeVarInt(message.position(), true);
      output.writeBoolean(message.more());
      output.writeVarInt(message.peers().size(), true);
      for (PeerState peer : message.peers()) {
        Wire.writeText(output, peer.executorId());
        Wire.writePeer(output, peer instanceof PeerState.On on ? on.address() : null);
        Wire.writeText(output, peer instanceof PeerState.Off off ? off.detail() : "");
      }
      Executors executors = new Executors();
      message.outputs().forEach(location -> executors.number(location.executorId()));
      executors.write(output);
      output.writeVarInt(message.outputs().size(), true);
      Wire.LastIndex lastIndex = new Wire.LastIndex();
      for (MapOutputLocation location : message.outputs()) {
        int executor = executors.number(location.executorId());
        Wire.writeOutput(output, location, executor, lastIndex);
      }
    }

    @Override
    public Table read(Kryo kryo, Input input, Class<Table> type) {
      boolean gone = input.readBoolean();
      int position = input.readVarInt(true);
      boolean more = input.readBoolean();
      List<PeerState> peers = Wire.readList(input, 3, ForTable::readPeer);
      List<String> executors = Executors.read(input);
      Wire.LastIndex lastIndex = new Wire.LastIndex();
      List<MapOutputLocation> outputs =
          Wire.readList(
              input, Wire.LEAST_OUTPUT_BYTES, in -> Wire.readOutput(in, executors::get, lastIndex));
      return new Table(gone, position, more, peers, outputs);
    }

    private static PeerState readPeer(Input input) {
      String executorId = Wire.readText(input);
      PeerAddress listener = Wire.readPeer(input, executorId);
      String detail = Wire.readText(input);
      return listener == null ? new PeerState.Off(executorId, detail) : new PeerState.On(listener);
    }
  }

  /** Numbers for the executors that a message names. */
  private static final class Executors {
    private final Map<String, Integer> numbers = new LinkedHashMap<>();
    private String last = "";
    private int lastNumber = -1;

    /** Map outputs come in batches of one executor: mostly it is the one before. */
    int number(String executorId) {
      if (lastNumber < 0 || !executorId.equals(last)) {
        last = executorId;
        lastNumber = numbers.computeIfAbsent(executorId, key -> numbers.size());
      }
      return lastNumber;
    }

    void write(Output output) {
      output.writeVarInt(numbers.size(), true);
      numbers.keySet().forEach(executorId -> Wire.writeText(output, executorId));
    }

    static List<String> read(Input input) {
      return Wire.readList(input, 1, Wire::readText);
    }
  }
}
