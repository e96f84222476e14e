package dev.verbatim.shuffle.fallback;

import dev.verbatim.shuffle.conf.RdmaConf;
import org.apache.spark.SparkConf;

/** What is known about a process before any device is looked at. */
public record ProcessFacts(
    String sparkVersion,
    Runtime.Version jdk,
    boolean enabled,
    boolean localMaster,
    boolean externalShuffleService,
    boolean oldFetchProtocol,
    boolean networkCrypto,
    boolean rpcSsl,
    boolean ioEncryption,
    boolean allowUnencrypted) {

  public static ProcessFacts of(SparkConf spark, RdmaConf rdma) {
    String master = spark.get("spark.master", "");
    return new ProcessFacts(
        org.apache.spark.package$.MODULE$.SPARK_VERSION(),
        Runtime.version(),
        rdma.get(RdmaConf.ENABLED),
        master.equals("local") || master.startsWith("local["),
        spark.getBoolean("spark.shuffle.service.enabled", false),
        spark.getBoolean("spark.shuffle.useOldFetchProtocol", false),
        spark.getBoolean("spark.network.crypto.enabled", false)
            || spark.getBoolean("spark.authenticate.enableSaslEncryption", false),
        spark.getBoolean("spark.ssl.rpc.enabled", false),
        spark.getBoolean("spark.io.encryption.enabled", false),
        rdma.get(RdmaConf.ALLOW_UNENCRYPTED));
  }
}
