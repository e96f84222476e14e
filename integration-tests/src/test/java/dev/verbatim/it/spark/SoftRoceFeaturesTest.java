package dev.verbatim.it.spark;

import dev.verbatim.it.spark.fixture.Feature;
import dev.verbatim.it.spark.fixture.SoftRoce;
import java.util.EnumSet;
import org.junit.jupiter.api.Tag;

@Tag("guest")
class SoftRoceFeaturesTest extends FeatureTests {
  SoftRoceFeaturesTest() {
    super(new SoftRoce());
  }

  @Override
  EnumSet<Feature> features() {
    return EnumSet.copyOf(Feature.IN_GUEST);
  }
}
