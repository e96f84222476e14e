package dev.verbatim.shuffle.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.RdmaShuffleManager;
import java.util.List;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The doctor on two machines, with an executor of a standalone Spark in each. */
@Tag("wire")
class DoctorWireTest {
  private static final String SECRET = "spark.authenticate.secret";

  @Test
  void shouldReadBetweenTheHostsBothWays() throws Exception {
    SparkConf conf =
        new SparkConf(false)
            .setMaster(System.getProperty("verbatim.it.master"))
            .set("spark.shuffle.manager", RdmaShuffleManager.class.getName())
            .set("spark.authenticate", "true")
            .set(SECRET, System.getProperty(SECRET))
            .set("spark.ui.enabled", "false")
            .set("spark.executor.instances", "2")
            .set("spark.executor.cores", "1")
            .set("spark.cores.max", "2")
            .set("spark.executor.memory", "1g")
            .set("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .set("spark.executorEnv.SPARK_SCALA_VERSION", "2.13")
            .set("spark.executorEnv.SPARK_TESTING", "1")
            .set("spark.network.timeout", "600s")
            .set("spark.executor.heartbeatInterval", "30s")
            .set("spark.shuffle.rdma.connectTimeout", "60s")
            .set("spark.shuffle.rdma.readTimeout", "60s");

    ClusterReport report =
        ExamineExecutors.examine(conf, Options.parse("--pairs", "--only", "port-state,gid,open"));

    String text = ClusterText.of(report);
    System.out.println(text);
    assertEquals(Verdict.OK, report.verdict(), text);
    assertEquals(2, report.executors().stream().map(Report::host).distinct().count(), text);
    List<Finding> pairs = report.cluster();
    assertEquals(2, pairs.size(), text);
    pairs.forEach(
        pair -> assertTrue(pair.seen().contains("UDP port 4791 passes"), pair.toString()));
  }
}
