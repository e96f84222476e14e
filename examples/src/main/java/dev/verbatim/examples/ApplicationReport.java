package dev.verbatim.examples;

import java.util.List;
import java.util.Map;

/**
 * What one Spark application did.
 *
 * @param label as requested
 * @param shuffleManager class that Spark had in use at the driver
 * @param modes what Verbatim's executors said about their devices
 * @param fallbacks blocks that Verbatim left to TCP, by reason
 */
record ApplicationReport(
    String label,
    String shuffleManager,
    List<String> modes,
    Map<String, Long> fallbacks,
    List<JobReport> jobs) {}
