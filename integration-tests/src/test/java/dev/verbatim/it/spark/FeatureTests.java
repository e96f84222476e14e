package dev.verbatim.it.spark;

import dev.verbatim.it.spark.fixture.Device;
import dev.verbatim.it.spark.fixture.Feature;
import dev.verbatim.it.spark.fixture.GatedShuffle;
import dev.verbatim.it.spark.fixture.Job;
import dev.verbatim.it.spark.fixture.TestCluster;
import java.util.Collection;
import java.util.EnumSet;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Features of Spark that need no settings of their own, in one application with Kryo. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
abstract class FeatureTests extends ApplicationTests {
  FeatureTests(Device device) {
    super(device);
  }

  /** Those that run one after the other. */
  abstract EnumSet<Feature> features();

  @Override
  Collection<? extends Job> scenarios() {
    return features();
  }

  @Override
  final TestCluster.Builder settings(TestCluster.Builder application) {
    return GatedShuffle.settings(application)
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
  }

  @ParameterizedTest(name = "{0}")
  @Order(1)
  @MethodSource("features")
  void shouldReturnWhatStockSparkReturns(Feature feature) {
    runUndisturbed(feature);
  }
}
