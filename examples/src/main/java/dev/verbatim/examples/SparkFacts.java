package dev.verbatim.examples;

import java.util.List;

/**
 * What a running Spark application says about itself.
 *
 * @param version of Spark
 * @param shuffleManager class that Spark has in use at the driver
 * @param modes what Verbatim's executors said about their devices
 */
record SparkFacts(String version, String shuffleManager, List<String> modes) {}
