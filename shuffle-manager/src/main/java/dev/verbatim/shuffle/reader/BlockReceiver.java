package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.ThrottledLog;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.slf4j.LoggerFactory;

/**
 * Spark's fetcher, which is told how each block ended. What it throws ends here: it is called by
 * threads that have other blocks, and buffers, to look after.
 */
record BlockReceiver(BlockFetchingListener listener, String executorId) {
  private static final ThrottledLog LOG =
      new ThrottledLog(LoggerFactory.getLogger(BlockReceiver.class));

  /**
   * A success that throws is made a failure, or the task might wait for the block for ever.
   *
   * @return false when it has thrown
   */
  boolean success(String blockId, ManagedBuffer data) {
    try {
      listener.onBlockFetchSuccess(blockId, data);
      return true;
    } catch (Throwable e) {
      failure(blockId, e);
      warn(blockId, "arrived and could not be taken", e);
      return false;
    }
  }

  void failure(String blockId, Throwable cause) {
    try {
      listener.onBlockFetchFailure(blockId, cause);
    } catch (Throwable e) {
      warn(blockId, "has failed, which could not be reported", e);
    }
  }

  private void warn(String blockId, String what, Throwable cause) {
    try {
      LOG.warn(executorId, "Block " + blockId + " " + what, cause);
    } catch (RuntimeException | Error e) {
      // There may be no memory to say so.
    }
  }
}
