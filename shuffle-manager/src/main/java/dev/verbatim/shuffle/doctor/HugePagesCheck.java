package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The pool should have huge pages, reserved or transparent: the NIC translates fewer then. */
final class HugePagesCheck implements Check {
  private static final String TRANSPARENT = "/sys/kernel/mm/transparent_hugepage/enabled";

  @Override
  public String name() {
    return "huge-pages";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    RdmaConf conf = examination.settings().rdma();
    if (!conf.get(RdmaConf.HUGE_PAGES)) {
      findings.ok("", "spark.shuffle.rdma.hugePages=false: none is asked for");
      return;
    }
    Host host = examination.host();
    String meminfo = host.read("/proc/meminfo").orElse("");
    long size = number(meminfo, "Hugepagesize") << 10;
    long free = number(meminfo, "HugePages_Free") * size;
    long pool = conf.get(RdmaConf.POOL_BYTES);
    String transparent =
        host.read(TRANSPARENT)
            .map(text -> text.replaceAll(".*\\[(\\w+)].*", "$1"))
            .orElse("not in this kernel");
    String seen = "reserved and free %s; transparent: %s".formatted(Sizes.text(free), transparent);
    if (free >= pool || transparent.equals("always") || transparent.equals("madvise")) {
      findings.ok("", seen);
    } else {
      findings.warning(
          "",
          seen,
          "transparent ones, or " + Sizes.text(pool) + " reserved for each executor of this host",
          size == 0
              ? "use a kernel with huge pages, or spark.shuffle.rdma.hugePages=false"
              : "echo madvise > %s, or sysctl -w vm.nr_hugepages=%d"
                  .formatted(TRANSPARENT, Math.ceilDiv(pool, size)));
    }
  }

  private static long number(String meminfo, String key) {
    Matcher matcher =
        Pattern.compile("^" + key + ":\\s+(\\d+)", Pattern.MULTILINE).matcher(meminfo);
    return Optional.of(matcher)
        .filter(Matcher::find)
        .map(m -> Long.parseLong(m.group(1)))
        .orElse(0L);
  }
}
