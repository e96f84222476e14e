package dev.verbatim.examples;

/**
 * One job in one application.
 *
 * @param seconds from handing it to Spark until all of its result was at the driver
 * @param cpu that was used meanwhile
 * @param transfer bytes by carrier, null where the shuffle manager does not count them
 */
record JobReport(
    String job,
    double seconds,
    ClusterCpu cpu,
    ShuffleBytes shuffle,
    TransferBytes transfer,
    JobResult result) {}
