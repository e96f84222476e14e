package dev.verbatim.examples;

import java.util.List;

/**
 * What one Spark application did.
 *
 * @param label as requested
 * @param shuffleManager class that Spark had in use at the driver
 */
record ApplicationReport(String label, String shuffleManager, List<QueryReport> queries) {}
