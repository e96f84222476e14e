package dev.verbatim.examples;

/**
 * What Spark's task metrics say about shuffled data, compressed as it is moved, and about the time
 * of tasks.
 *
 * @param written bytes of map output
 * @param local bytes that tasks read from their own executor's files
 * @param remote bytes that tasks read from other executors
 * @param fetchWaitMillis time that tasks waited for remote blocks, summed over tasks
 * @param writeMillis time that tasks wrote map output, summed over tasks
 * @param taskMillis time that tasks ran, summed over tasks
 * @param failedTasks task attempts that did not succeed
 */
record ShuffleBytes(
    long written,
    long local,
    long remote,
    long fetchWaitMillis,
    long writeMillis,
    long taskMillis,
    long failedTasks) {
  static final ShuffleBytes NONE = new ShuffleBytes(0, 0, 0, 0, 0, 0, 0);

  ShuffleBytes plus(ShuffleBytes other) {
    return new ShuffleBytes(
        written + other.written,
        local + other.local,
        remote + other.remote,
        fetchWaitMillis + other.fetchWaitMillis,
        writeMillis + other.writeMillis,
        taskMillis + other.taskMillis,
        failedTasks + other.failedTasks);
  }

  /** Part of the tasks' time that went into writing and waiting for shuffled data, 0 to 1. */
  double shareOfTaskTime() {
    return taskMillis == 0 ? 0 : (double) (fetchWaitMillis + writeMillis) / taskMillis;
  }
}
