package dev.verbatim.examples;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What one Spark application is to run.
 *
 * @param label short name of the shuffle manager
 * @param configuration all Spark settings
 * @param tpcdsJar null without queries
 * @param data folder with one folder of Parquet files per table; null without queries
 * @param jobs their names, see {@link JobNames}
 * @param keepLimit whether to keep the queries' outermost LIMIT
 * @param results folder for {@link FirstResults}
 * @param profile folder for what says where CPU time goes; null for none
 */
record ApplicationRequest(
    String label,
    String master,
    Map<String, String> configuration,
    Path tpcdsJar,
    Path data,
    List<String> jobs,
    boolean keepLimit,
    Path results,
    Path profile) {}
