package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.transport.TransportConfig;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.util.Utils;

/**
 * The settings that a host is examined for.
 *
 * @param invalid why they cannot be used; empty where they can. The others are the defaults then
 * @param manager {@code spark.shuffle.manager} of the user
 * @param localDirs where map outputs of this host are
 */
record Settings(
    SparkConf spark, RdmaConf rdma, String invalid, String manager, List<Path> localDirs) {
  private static final long POOL_OF_DOCTOR = 64L << 20;

  /** Those that {@code spark-submit} would give an application on this host. */
  static Settings ofThisHost() {
    SparkConf spark = new SparkConf();
    Utils.loadDefaultSparkProperties(spark, null);
    List<Path> folders = Arrays.stream(Utils.getConfiguredLocalDirs(spark)).map(Path::of).toList();
    return of(spark, spark.get("spark.shuffle.manager", ""), folders);
  }

  static Settings of(SparkConf spark, String manager, List<Path> localDirs) {
    try {
      return new Settings(spark, RdmaConf.load(spark), "", manager, localDirs);
    } catch (RuntimeException e) { // a wrong value, or a file that is not XML
      return new Settings(spark, RdmaConf.defaults(), e.getMessage(), manager, localDirs);
    }
  }

  /**
   * What an executor would open, with a smaller pool. Its port is the system's choice: an executor
   * that runs may have the one of the settings.
   *
   * @param token shared by those that connect to each other
   */
  TransportConfig transport(String name, byte[] token) {
    TransportConfig config = rdma.transportConfig();
    int slab = Math.toIntExact(Math.min(config.slabBytes(), POOL_OF_DOCTOR / 4));
    return config
        .slabBytes(slab)
        .poolBytes(Math.min(config.poolBytes(), POOL_OF_DOCTOR))
        .listenPort(0)
        .localName(name)
        .applicationToken(token);
  }
}
