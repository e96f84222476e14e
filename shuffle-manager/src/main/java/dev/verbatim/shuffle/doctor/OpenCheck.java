package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.TransportInfo;
import java.util.Optional;

/** A transport must open with the settings, as an executor opens it. */
final class OpenCheck implements Check {
  @Override
  public String name() {
    return "open";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    Optional<OpenResult> opened = examination.opened();
    if (opened.isEmpty()) {
      findings.unknown("", "a recording has no device", "");
      return;
    }
    switch (opened.get()) {
      case OpenResult.Unavailable none ->
          findings.problem(
              "", none.reason() + ": " + none.seen(), "RDMA on in executors", none.remedy());
      case OpenResult.Opened transport -> {
        TransportInfo info = transport.transport().info();
        findings.ok(
            "",
            "RDMA on: %s port %d (%s), GID %d %s, address %s, MTU %d, READ depth %d"
                .formatted(
                    info.device(),
                    info.port(),
                    info.linkLayer(),
                    info.gidIndex(),
                    info.gid(),
                    info.address().getAddress().getHostAddress(),
                    info.pathMtu(),
                    info.readDepth()));
      }
    }
  }
}
