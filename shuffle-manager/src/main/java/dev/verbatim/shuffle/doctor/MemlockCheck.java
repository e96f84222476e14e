package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.fallback.FallbackReason;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** This process must be allowed to lock as much memory as the settings may pin. */
final class MemlockCheck implements Check {
  private static final Pattern LIMIT =
      Pattern.compile("^Max locked memory\\s+(\\S+)", Pattern.MULTILINE);
  private static final Pattern CAPABILITIES =
      Pattern.compile("^CapEff:\\s*([0-9a-f]+)", Pattern.MULTILINE);
  private static final int CAP_IPC_LOCK = 14;

  /** Queues of the device beside the pool's first slab. */
  private static final long QUEUES = 8L << 20;

  @Override
  public String name() {
    return "memlock";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    Host host = examination.host();
    Optional<String> limit = find(LIMIT, host.read("/proc/self/limits"));
    if (limit.isEmpty()) {
      findings.unknown("", "/proc/self/limits does not tell it", "");
      return;
    }
    if (limit.get().equals("unlimited")) {
      findings.ok("", "RLIMIT_MEMLOCK of this process is unlimited");
      return;
    }
    long bytes = Long.parseUnsignedLong(limit.get());
    String seen = "RLIMIT_MEMLOCK of this process is " + Sizes.text(bytes);
    if (hasCapability(host)) {
      findings.ok("", seen + ", and CAP_IPC_LOCK lifts it");
      return;
    }
    RdmaConf conf = examination.settings().rdma();
    long least = conf.transportConfig().slabBytes() + QUEUES;
    long most = conf.get(RdmaConf.POOL_BYTES) + conf.get(RdmaConf.MAX_REGISTERED_BYTES) + QUEUES;
    String needed =
        "unlimited, or %s for spark.shuffle.rdma.poolBytes and maxRegisteredBytes; %s to begin with"
            .formatted(Sizes.text(most), Sizes.text(least));
    if (bytes < least) {
      findings.problem("", seen, needed, FallbackReason.MEMLOCK.remedy());
    } else if (bytes < most) {
      findings.warning("", seen, needed, FallbackReason.MEMLOCK.remedy());
    } else {
      findings.ok("", seen);
    }
  }

  private static boolean hasCapability(Host host) {
    return find(CAPABILITIES, host.read("/proc/self/status"))
        .map(text -> Long.parseUnsignedLong(text, 16) >>> CAP_IPC_LOCK & 1)
        .filter(bit -> bit == 1)
        .isPresent();
  }

  private static Optional<String> find(Pattern pattern, Optional<String> text) {
    Matcher matcher = pattern.matcher(text.orElse(""));
    return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
  }
}
