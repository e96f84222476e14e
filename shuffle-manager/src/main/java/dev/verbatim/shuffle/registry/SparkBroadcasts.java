package dev.verbatim.shuffle.registry;

import java.nio.ByteBuffer;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.serializer.SerializerInstance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Large tables as Spark's broadcasts, like its own map statuses: executors get the parts from each
 * other. What is broadcast are arrays of bytes, since Spark cannot load our classes everywhere.
 */
public final class SparkBroadcasts implements TableSharing {
  private static final Logger LOG = LoggerFactory.getLogger(SparkBroadcasts.class);
  private static final long LEAST_BYTES = 64 << 10;
  private static final ClassTag<byte[][]> CHUNKS = ClassTag$.MODULE$.apply(byte[][].class);
  private static final ClassTag<Broadcast<byte[][]>> BROADCAST =
      ClassTag$.MODULE$.apply(Broadcast.class);

  private final SparkEnv env;
  private final long leastBytes;

  /**
   * For a driver. Tables are broadcast from 64 KiB on, or from where Spark's statuses are if that
   * is less: a table is smaller than the statuses of its shuffle, and asked for by as many
   * executors.
   */
  public SparkBroadcasts(SparkEnv env) {
    this.env = env;
    this.leastBytes =
        Math.min(
            LEAST_BYTES,
            env.conf().getSizeAsBytes("spark.shuffle.mapOutput.minSizeForBroadcast", "512k"));
  }

  @Override
  public long leastBytes() {
    return leastBytes;
  }

  @Override
  public SharedTable share(List<byte[]> chunks) {
    // As serialized pieces alone: the driver never reads it and executors do once, so that nobody
    // has use for a second copy.
    Broadcast<byte[][]> broadcast =
        env.broadcastManager().newBroadcast(chunks.toArray(byte[][]::new), false, true, CHUNKS);
    LOG.info(
        "The records of a shuffle, {} bytes, go to executors as {}",
        chunks.stream().mapToLong(chunk -> chunk.length).sum(),
        broadcast);
    ByteBuffer serialized = serializer(env).serialize(broadcast, BROADCAST);
    byte[] reference = new byte[serialized.remaining()];
    serialized.get(reference);
    return new SharedTable() {
      @Override
      public byte[] reference() {
        return reference;
      }

      @Override
      public void close() {
        broadcast.destroy(false);
      }
    };
  }

  /** The chunks of a shared table; blocks until they are here. For an executor. */
  static byte[][] read(byte[] reference) {
    SerializerInstance serializer = serializer(SparkEnv.get());
    return serializer
        .deserialize(ByteBuffer.wrap(reference), Broadcast.class.getClassLoader(), BROADCAST)
        .value();
  }

  private static SerializerInstance serializer(SparkEnv env) {
    return env.closureSerializer().newInstance();
  }
}
