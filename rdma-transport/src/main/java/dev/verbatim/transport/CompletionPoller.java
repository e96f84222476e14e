package dev.verbatim.transport;

import dev.verbatim.verbs.IbvWc;
import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsException;
import dev.verbatim.verbs.WcStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells batches of READs their end, by completion or by deadline. */
final class CompletionPoller extends QueuePoller {
  private static final int SUCCESS = WcStatus.SUCCESS.number();
  private static final long DEADLINE_ROUND_NANOS = 10_000_000;

  /**
   * A look at the deadlines each time. The first one at a batch starts its time, so that it is
   * given up to two such parts of its time too late.
   */
  private static final int BLOCKS_PER_READ_TIMEOUT = 20;

  private static final int LEAST_BLOCK_MILLIS = 10;
  private static final int MOST_BLOCK_MILLIS = 500;

  private static final Logger LOG = LoggerFactory.getLogger(CompletionPoller.class);

  private final SendQueueTable<PeerConnection> table;
  private final List<ReadBatch> ended = new ArrayList<>();
  private long clockNanos;
  private final Consumer<PeerConnection> deadlineCheck =
      connection -> connection.checkDeadline(clockNanos);
  private long nextDeadlineRoundNanos = System.nanoTime();

  /**
   * @param mostSpin how long to look for completions before blocking
   * @param readTimeout after which a batch is late
   * @param deviceFailed told when completions, or events of the queue, can be taken no more; called
   *     by the poller's thread
   */
  CompletionPoller(
      Verbs verbs,
      Posix posix,
      MemorySegment channel,
      MemorySegment queue,
      SendQueueTable<PeerConnection> table,
      Duration mostSpin,
      Duration readTimeout,
      Consumer<String> deviceFailed,
      Arena arena)
      throws VerbsException {
    super(
        verbs,
        posix,
        channel,
        queue,
        mostSpin,
        Math.clamp(
            readTimeout.toMillis() / BLOCKS_PER_READ_TIMEOUT,
            LEAST_BLOCK_MILLIS,
            MOST_BLOCK_MILLIS),
        deviceFailed,
        arena);
    this.table = table;
  }

  @Override
  void take(int count) {
    try {
      for (int i = 0; i < count; i++) {
        long id = IbvWc.WR_ID.get(completions, i);
        int key = (int) (id >>> 32);
        PeerConnection connection = table.get(key);
        if (connection != null) {
          int status = IbvWc.STATUS.get(completions, i);
          int vendorError = status == SUCCESS ? 0 : IbvWc.VENDOR_ERR.get(completions, i);
          connection.completed(key, (int) id, status, vendorError, ended);
        }
      }
    } finally { // their connection has forgotten them: nobody else would tell them
      // Not while a connection's lock is held: a listener may post the next READ.
      for (int i = 0; i < ended.size(); i++) {
        end(ended.get(i), null);
      }
      ended.clear();
    }
  }

  /**
   * Tells a batch its end; what a listener throws is logged. Throws nothing, also when there is no
   * memory to log it: the callers have other batches to tell, and none may be told twice, for it
   * may be under way again.
   */
  static void end(ReadBatch batch, ReadFailure failure) {
    try {
      batch.end(failure);
    } catch (Throwable e) {
      WakeUp.say(e, LOG, "A READ listener failed");
    }
  }

  @Override
  void checkDeadlines() {
    clockNanos = System.nanoTime();
    if (clockNanos - nextDeadlineRoundNanos >= 0) {
      nextDeadlineRoundNanos = clockNanos + DEADLINE_ROUND_NANOS;
      table.forEach(deadlineCheck);
    }
  }
}
