package dev.verbatim.shuffle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.metrics.ShuffleReport;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class RdmaShuffleManagerTest {

  @Test
  void shouldFailAtStartOnTheDriverWhenASettingIsNotValid() {
    SparkConf conf = new SparkConf(false).set("spark.shuffle.rdma.readDepth", "0");

    String message =
        assertThrows(IllegalArgumentException.class, () -> new RdmaShuffleManager(conf, true))
            .getMessage();

    assertTrue(message.contains("spark.shuffle.rdma.readDepth = '0'"), message);
  }

  @Test
  void shouldReportNothingWhenThereIsNoApplication() {
    assertEquals(ShuffleReport.EMPTY, RdmaShuffleManager.report());
  }
}
