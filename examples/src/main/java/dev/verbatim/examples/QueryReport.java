package dev.verbatim.examples;

/**
 * One query in one application.
 *
 * @param seconds from handing the text to Spark until all rows were at the driver
 * @param transfer bytes by carrier, null where the shuffle manager does not count them
 */
record QueryReport(
    String query,
    double seconds,
    ShuffleBytes shuffle,
    TransferBytes transfer,
    QueryResult result) {}
