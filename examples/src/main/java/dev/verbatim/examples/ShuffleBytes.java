package dev.verbatim.examples;

/**
 * What Spark's task metrics say about shuffled data, compressed as it is moved.
 *
 * @param written bytes of map output
 * @param local bytes that tasks read from their own executor's files
 * @param remote bytes that tasks read from other executors
 * @param fetchWaitMillis time that tasks waited for remote blocks, summed over tasks
 * @param failedTasks task attempts that did not succeed
 */
record ShuffleBytes(long written, long local, long remote, long fetchWaitMillis, long failedTasks) {
  static final ShuffleBytes NONE = new ShuffleBytes(0, 0, 0, 0, 0);

  ShuffleBytes plus(ShuffleBytes other) {
    return new ShuffleBytes(
        written + other.written,
        local + other.local,
        remote + other.remote,
        fetchWaitMillis + other.fetchWaitMillis,
        failedTasks + other.failedTasks);
  }
}
