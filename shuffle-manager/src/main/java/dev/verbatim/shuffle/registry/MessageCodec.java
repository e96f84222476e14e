package dev.verbatim.shuffle.registry;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Registration;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.util.DefaultClassResolver;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Hello;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Report;
import dev.verbatim.shuffle.registry.Message.Shared;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import dev.verbatim.shuffle.registry.Message.Taken;
import dev.verbatim.shuffle.registry.Message.Welcome;

/**
 * Messages as bytes, by Kryo with fixed numbers for classes: nothing on the wire names a class, so
 * Spark's class loader never has to know ours, and a sender cannot have a class loaded. What is
 * allocated for a message is bounded by its length. Thread-safe.
 */
final class MessageCodec {
  private static final int FORMAT = 1;
  private static final int MOST_BYTES = 64 << 20;

  private final Kryo kryo = new Kryo(new MessagesOnly(), null);

  MessageCodec() {
    kryo.setRegistrationRequired(true);
    kryo.setReferences(false);
    kryo.register(Hello.class, new MessageSerializers.ForHello(), 10);
    kryo.register(Welcome.class, new MessageSerializers.ForWelcome(), 11);
    kryo.register(Announce.class, new MessageSerializers.ForAnnounce(), 12);
    kryo.register(Publish.class, new MessageSerializers.ForPublish(), 13);
    kryo.register(Report.class, new ReportSerializer(), 14);
    kryo.register(Sync.class, new MessageSerializers.ForSync(), 15);
    kryo.register(Await.class, new MessageSerializers.ForAwait(), 16);
    kryo.register(Table.class, new MessageSerializers.ForTable(), 17);
    kryo.register(Taken.class, new MessageSerializers.ForTaken(), 18);
    kryo.register(Shared.class, new MessageSerializers.ForShared(), 19);
  }

  byte[] encode(Message message) {
    Output output =
        new Output(message instanceof Table table ? likelyBytes(table) : 256, MOST_BYTES);
    output.writeByte(FORMAT);
    synchronized (kryo) {
      kryo.writeClassAndObject(output, message);
    }
    return output.toBytes();
  }

  /**
   * Room that a table needs, which is the one large message of a driver, unless regions are many.
   */
  private static int likelyBytes(Table table) {
    return 256 + 64 * table.peers().size() + 40 * table.outputs().size();
  }

  /**
   * Never answers null.
   *
   * @throws MalformedMessageException for anything that {@link #encode} has not made
   */
  Message decode(byte[] bytes) throws MalformedMessageException {
    Input input = new Input(bytes);
    try {
      if (bytes.length > MOST_BYTES) {
        throw new IllegalArgumentException("more than " + MOST_BYTES);
      }
      int format = input.readByte();
      if (format != FORMAT) {
        throw new IllegalArgumentException("format " + format + ", expected " + FORMAT);
      }
      Object message;
      synchronized (kryo) {
        message = kryo.readClassAndObject(input);
      }
      if (input.position() != bytes.length) {
        throw new IllegalArgumentException("bytes left over");
      }
      return (Message) message;
    } catch (RuntimeException e) {
      throw new MalformedMessageException(
          "not a message: " + bytes.length + " bytes, " + e.getMessage(), e);
    }
  }

  private static final class MessagesOnly extends DefaultClassResolver {
    /** Kryo would load a class that is named on the wire before it finds it unregistered. */
    @Override
    protected Registration readName(Input input) {
      throw new KryoException("a class by name");
    }

    /** Kryo knows strings by itself, and allocates as many characters as the sender says. */
    @Override
    public Registration readClass(Input input) {
      Registration registration = super.readClass(input);
      if (registration == null || !Message.class.isAssignableFrom(registration.getType())) {
        throw new KryoException("not the number of a message");
      }
      return registration;
    }
  }
}
