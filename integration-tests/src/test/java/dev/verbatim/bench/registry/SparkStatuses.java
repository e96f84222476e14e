package dev.verbatim.bench.registry;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.serializer.SerializerInstance;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Spark's own way of a shuffle's map statuses through the driver. */
final class SparkStatuses {
  private static final ClassTag<MapStatus> STATUS = ClassTag$.MODULE$.apply(MapStatus.class);

  private final MapOutputTrackerMaster tracker =
      (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
  private final SerializerInstance serializer = SparkEnv.get().serializer().newInstance();

  private SimulatedShuffle serialized;
  private ByteBuffer[] results;

  /** All statuses of a shuffle as they come in the results of tasks. */
  private ByteBuffer[] results(SimulatedShuffle shuffle) {
    if (!shuffle.equals(serialized)) {
      results = new ByteBuffer[shuffle.maps()];
      Arrays.setAll(results, map -> serializer.serialize(shuffle.status(map), STATUS));
      serialized = shuffle;
    }
    return results;
  }

  /** Of all statuses of a shuffle, as they come. */
  long bytes(SimulatedShuffle shuffle) {
    return Arrays.stream(results(shuffle)).mapToLong(ByteBuffer::remaining).sum();
  }

  /**
   * Registers all statuses of a shuffle.
   *
   * @param reading counts what it takes to read them
   * @param registering counts what it takes to register them
   */
  void register(int shuffleId, SimulatedShuffle shuffle, DriverCpu reading, DriverCpu registering)
      throws Exception {
    ByteBuffer[] came = results(shuffle);
    MapStatus[] statuses = new MapStatus[came.length];
    tracker.registerShuffle(shuffleId, shuffle.maps(), shuffle.reducers());
    reading.count(
        () ->
            Arrays.setAll(statuses, map -> serializer.deserialize(came[map].duplicate(), STATUS)));
    registering.count(
        () -> {
          for (int map = 0; map < statuses.length; map++) {
            tracker.registerMapOutput(shuffleId, map, statuses[map]);
          }
        });
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
