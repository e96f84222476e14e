package dev.verbatim.examples;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What one Spark application is to run.
 *
 * @param label short name of the shuffle manager, for progress and for the table
 * @param configuration all Spark settings
 * @param data folder with one folder of Parquet files per table
 * @param keepLimit whether to keep the queries' outermost LIMIT
 */
record ApplicationRequest(
    String label,
    String master,
    Map<String, String> configuration,
    Path tpcdsJar,
    Path data,
    List<String> queries,
    boolean keepLimit) {}
