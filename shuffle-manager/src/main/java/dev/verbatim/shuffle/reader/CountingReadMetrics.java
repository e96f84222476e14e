package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;

/** Counts what Spark's own reader fetched while RDMA is off, and passes all on. */
public final class CountingReadMetrics implements ShuffleReadMetricsReporter {
  private final ShuffleReadMetricsReporter next;
  private final ShuffleCounters counters;
  private final FallbackReason reason;

  public CountingReadMetrics(
      ShuffleReadMetricsReporter next, ShuffleCounters counters, FallbackReason reason) {
    this.next = next;
    this.counters = counters;
    this.reason = reason;
  }

  @Override
  public void incRemoteBlocksFetched(long v) {
    counters.blocksByTcp(v);
    counters.fallback(reason, v);
    next.incRemoteBlocksFetched(v);
  }

  @Override
  public void incRemoteBytesRead(long v) {
    counters.bytesByTcp(v);
    next.incRemoteBytesRead(v);
  }

  @Override
  public void incLocalBlocksFetched(long v) {
    next.incLocalBlocksFetched(v);
  }

  @Override
  public void incRemoteBytesReadToDisk(long v) {
    next.incRemoteBytesReadToDisk(v);
  }

  @Override
  public void incLocalBytesRead(long v) {
    next.incLocalBytesRead(v);
  }

  @Override
  public void incFetchWaitTime(long v) {
    next.incFetchWaitTime(v);
  }

  @Override
  public void incRecordsRead(long v) {
    next.incRecordsRead(v);
  }

  @Override
  public void incCorruptMergedBlockChunks(long v) {
    next.incCorruptMergedBlockChunks(v);
  }

  @Override
  public void incMergedFetchFallbackCount(long v) {
    next.incMergedFetchFallbackCount(v);
  }

  @Override
  public void incRemoteMergedBlocksFetched(long v) {
    next.incRemoteMergedBlocksFetched(v);
  }

  @Override
  public void incLocalMergedBlocksFetched(long v) {
    next.incLocalMergedBlocksFetched(v);
  }

  @Override
  public void incRemoteMergedChunksFetched(long v) {
    next.incRemoteMergedChunksFetched(v);
  }

  @Override
  public void incLocalMergedChunksFetched(long v) {
    next.incLocalMergedChunksFetched(v);
  }

  @Override
  public void incRemoteMergedBytesRead(long v) {
    next.incRemoteMergedBytesRead(v);
  }

  @Override
  public void incLocalMergedBytesRead(long v) {
    next.incLocalMergedBytesRead(v);
  }

  @Override
  public void incRemoteReqsDuration(long v) {
    next.incRemoteReqsDuration(v);
  }

  @Override
  public void incRemoteMergedReqsDuration(long v) {
    next.incRemoteMergedReqsDuration(v);
  }
}
