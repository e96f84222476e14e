package dev.verbatim.transport.measure;

/**
 * What was measured. Latencies are nanoseconds of one message, as {@link MeasuredOperation} says;
 * with a depth above 1 they contain the time that messages waited for each other.
 *
 * @param bytes of one message
 * @param depth messages under way at a time on each queue pair
 * @param messages that ended in the measured time; of a ping-pong the pairs
 * @param nanos from the first posting to the last completion
 * @param minNanos shortest latency
 * @param medianNanos latency that half of the messages did not exceed
 * @param p99Nanos latency that 99 of 100 messages did not exceed
 * @param maxNanos longest latency
 * @param averageNanos mean latency
 */
public record Measurement(
    MeasuredOperation operation,
    long bytes,
    int depth,
    int queuePairs,
    long messages,
    long nanos,
    long minNanos,
    long medianNanos,
    long p99Nanos,
    long maxNanos,
    double averageNanos) {

  /** Payload of all messages in 10^6 bytes per second; of a ping-pong both ways. */
  public double megabytesPerSecond() {
    double ways = operation == MeasuredOperation.PING_PONG ? 2 : 1;
    return ways * bytes * messages * 1e3 / nanos;
  }

  public double messagesPerSecond() {
    double ways = operation == MeasuredOperation.PING_PONG ? 2 : 1;
    return ways * messages * 1e9 / nanos;
  }
}
