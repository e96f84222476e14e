package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import java.util.Optional;

/** The kernel must allow as many mappings as large map outputs may need, beside the JVM's. */
final class MapCountCheck implements Check {
  /** The JVM's own with hundreds of threads, and what is kept free for them. */
  private static final long OTHERS = 16_384;

  @Override
  public String name() {
    return "max-map-count";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    Optional<String> limit = examination.host().read("/proc/sys/vm/max_map_count");
    if (limit.isEmpty()) {
      findings.unknown("", "vm.max_map_count cannot be read", "");
      return;
    }
    RdmaConf conf = examination.settings().rdma();
    // A map output above the threshold has a mapping; those below share slabs.
    long smallest = Math.max(4096, conf.get(RdmaConf.COPY_THRESHOLD));
    long needed = conf.get(RdmaConf.MAX_REGISTERED_BYTES) / smallest + OTHERS;
    String seen = "vm.max_map_count = " + limit.get();
    if (Long.parseLong(limit.get()) < needed) {
      findings.warning(
          "",
          seen,
          needed + " for spark.shuffle.rdma.maxRegisteredBytes in files above copyThreshold",
          "sysctl -w vm.max_map_count=" + Math.max(262_144, needed) + ", and in /etc/sysctl.d");
    } else {
      findings.ok("", seen);
    }
  }
}
