package dev.verbatim.shuffle.metrics;

import com.codahale.metrics.Histogram;
import com.codahale.metrics.Snapshot;
import com.codahale.metrics.UniformReservoir;
import dev.verbatim.transport.LatencyCounts;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A histogram over {@link LatencyCounts}. The library's own reservoirs take a lock or allocate for
 * each value, or never forget; here the count is of all times, and the rest of those of the last
 * one to two minutes, or since somebody looked last if that is longer ago.
 */
final class LatencyHistogram extends Histogram {
  static final long WINDOW_NANOS = 60_000_000_000L;

  private final Supplier<LatencyCounts> counts;
  private final LongSupplier clock;
  private LatencyCounts before = LatencyCounts.NONE;
  private LatencyCounts last = LatencyCounts.NONE;
  private long turnedNanos;

  LatencyHistogram(Supplier<LatencyCounts> counts) {
    this(counts, System::nanoTime);
  }

  LatencyHistogram(Supplier<LatencyCounts> counts, LongSupplier clock) {
    super(new UniformReservoir(1)); // never used
    this.counts = counts;
    this.clock = clock;
    this.turnedNanos = clock.getAsLong();
  }

  @Override
  public void update(long value) {
    throw new UnsupportedOperationException("the transport counts");
  }

  @Override
  public long getCount() {
    return counts.get().count();
  }

  @Override
  public synchronized Snapshot getSnapshot() {
    LatencyCounts all = counts.get();
    long now = clock.getAsLong();
    if (now - turnedNanos >= WINDOW_NANOS) {
      turnedNanos = now;
      before = last;
      last = all;
    }
    return new Recent(all.since(before));
  }

  private static final class Recent extends Snapshot {
    private final LatencyCounts counts;

    Recent(LatencyCounts counts) {
      this.counts = counts;
    }

    @Override
    public double getValue(double quantile) {
      return counts.quantileNanos(quantile);
    }

    /** One for each bucket, which is as much as is known. */
    @Override
    public long[] getValues() {
      return counts.values();
    }

    @Override
    public int size() {
      return getValues().length;
    }

    @Override
    public long getMax() {
      return counts.quantileNanos(1);
    }

    @Override
    public double getMean() {
      return counts.meanNanos();
    }

    @Override
    public long getMin() {
      return counts.quantileNanos(0);
    }

    @Override
    public double getStdDev() {
      return counts.deviationNanos();
    }

    @Override
    public void dump(OutputStream output) {
      PrintWriter writer = new PrintWriter(output, false, StandardCharsets.UTF_8);
      for (long value : getValues()) {
        writer.println(value);
      }
      writer.flush();
    }
  }
}
