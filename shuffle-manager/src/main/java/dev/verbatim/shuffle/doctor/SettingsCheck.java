package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.RdmaShuffleManager;
import dev.verbatim.shuffle.fallback.FallbackPolicy;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.fallback.Obstacle;
import dev.verbatim.shuffle.fallback.ProcessFacts;
import java.util.Optional;

/** Settings must be valid, must name Verbatim, and must not keep it from RDMA. */
final class SettingsCheck implements Check {
  @Override
  public String name() {
    return "settings";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    Settings settings = examination.settings();
    if (!settings.invalid().isEmpty()) {
      findings.problem(
          "",
          settings.invalid(),
          "a value within its range",
          "correct it in spark-defaults.conf, or in rdma-site.xml of this host");
      return;
    }
    settings
        .rdma()
        .warnings()
        .forEach(
            warning ->
                findings.warning("", warning, "a known key", "correct or remove the setting"));
    // Of the JDK there is a check of its own; of a local master the doctor knows.
    Optional<Obstacle> obstacle =
        FallbackPolicy.forProcess(ProcessFacts.of(settings.spark(), settings.rdma()))
            .filter(o -> o.reason() != FallbackReason.JDK_TOO_OLD)
            .filter(o -> o.reason() != FallbackReason.LOCAL_MODE);
    if (obstacle.isPresent()) {
      findings.problem(
          "",
          obstacle.get().reason() + ": " + obstacle.get().seen(),
          "settings under which blocks may go by RDMA",
          obstacle.get().remedy());
    } else if (!settings.manager().equals(RdmaShuffleManager.class.getName())) {
      findings.warning(
          "",
          settings.manager().isEmpty()
              ? "spark.shuffle.manager is not set"
              : "spark.shuffle.manager=" + settings.manager(),
          "spark.shuffle.manager=" + RdmaShuffleManager.class.getName(),
          "set it in spark-defaults.conf, or for one job by spark-submit --conf");
    } else {
      findings.ok("", "valid; spark.shuffle.manager=" + settings.manager());
    }
  }
}
