package dev.verbatim.bench.registry;

import java.nio.ByteBuffer;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.serializer.SerializerInstance;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Spark's own way of a shuffle's map statuses through the driver. */
final class SparkStatuses {
  private static final ClassTag<MapStatus> STATUS = ClassTag$.MODULE$.apply(MapStatus.class);
  private static final int SLICE = 1000;

  private final MapOutputTrackerMaster tracker =
      (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
  private final SerializerInstance serializer = SparkEnv.get().serializer().newInstance();

  /**
   * Registers all statuses of a shuffle, as they come in the results of tasks.
   *
   * @param reading counts what it takes to read them
   * @param registering counts what it takes to register them
   */
  void register(int shuffleId, SimulatedShuffle shuffle, DriverCpu reading, DriverCpu registering)
      throws Exception {
    tracker.registerShuffle(shuffleId, shuffle.maps(), shuffle.reducers());
    for (int from = 0; from < shuffle.maps(); from += SLICE) {
      int first = from;
      int count = Math.min(SLICE, shuffle.maps() - from);
      ByteBuffer[] results = new ByteBuffer[count];
      for (int i = 0; i < count; i++) {
        results[i] = serializer.serialize(shuffle.status(first + i), STATUS);
      }
      MapStatus[] statuses = new MapStatus[count];
      reading.count(
          () -> {
            for (int i = 0; i < count; i++) {
              statuses[i] = serializer.deserialize(results[i], STATUS);
            }
          });
      registering.count(
          () -> {
            for (int i = 0; i < count; i++) {
              tracker.registerMapOutput(shuffleId, first + i, statuses[i]);
            }
          });
    }
  }

  /** Bytes of the broadcast that was made of them; 0 if they went in the answers themselves. */
  long broadcastBytes(int shuffleId) {
    var broadcast = tracker.shuffleStatuses().apply(shuffleId).cachedSerializedBroadcast();
    long bytes = 0;
    if (broadcast != null) {
      for (byte[] part : broadcast.value()) {
        bytes += part.length;
      }
    }
    return bytes;
  }

  void unregister(int shuffleId) {
    tracker.unregisterShuffle(shuffleId);
  }
}
