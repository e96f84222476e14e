package dev.verbatim.examples;

/**
 * One job in one application.
 *
 * @param seconds from handing it to Spark until all of its result was at the driver
 * @param cpuSeconds of the driver's process and those it has started, so of the executors as well
 *     with a local or local-cluster master
 * @param transfer bytes by carrier, null where the shuffle manager does not count them
 */
record JobReport(
    String job,
    double seconds,
    double cpuSeconds,
    ShuffleBytes shuffle,
    TransferBytes transfer,
    JobResult result) {}
