package dev.verbatim.bench.registry;

import dev.verbatim.shuffle.registry.SharedTable;
import dev.verbatim.shuffle.registry.SparkBroadcasts;
import dev.verbatim.shuffle.registry.TableSharing;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Spark's broadcasts, and how many bytes went into them. */
record CountedBroadcasts(SparkBroadcasts broadcasts, AtomicLong bytes) implements TableSharing {
  CountedBroadcasts(SparkBroadcasts broadcasts) {
    this(broadcasts, new AtomicLong());
  }

  @Override
  public long leastBytes() {
    return broadcasts.leastBytes();
  }

  @Override
  public SharedTable share(List<byte[]> chunks) {
    chunks.forEach(chunk -> bytes.addAndGet(chunk.length));
    return broadcasts.share(chunks);
  }
}
