package dev.verbatim.shuffle.ui;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.verbatim.shuffle.metrics.ShuffleOutputs;
import java.util.Map;
import org.apache.spark.util.kvstore.KVIndex;

/**
 * What the tab tells of one shuffle. Event logs have it as JSON, so a name here is for good.
 *
 * @param id the shuffle's
 * @param live false once Spark has removed it; then the rest is how it was
 * @param registered map outputs that can be READ
 * @param bytes their data
 * @param declined map outputs left to TCP, by reason
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ShuffleRow(
    int id, boolean live, long registered, long bytes, Map<String, Long> declined) {

  public ShuffleRow {
    declined = Reasons.sorted(declined);
  }

  @Override
  @KVIndex
  public int id() {
    return id;
  }

  static ShuffleRow of(int id, ShuffleOutputs outputs) {
    return new ShuffleRow(
        id,
        outputs.live(),
        outputs.registered(),
        outputs.bytes(),
        Reasons.named(outputs.declined()));
  }

  long leftToTcp() {
    return Reasons.sum(declined);
  }
}
