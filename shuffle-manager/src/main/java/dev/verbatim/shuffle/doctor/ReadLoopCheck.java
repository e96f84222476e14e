package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.RegistrationException;
import java.util.List;

/** READs must bring the right bytes from this host's port to itself. */
final class ReadLoopCheck implements Check {
  private static final String NAME = "read-loop";
  private static final String READER = "doctor-reader";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    List<Finding> found = examination.readLoop();
    if (found.isEmpty()) {
      findings.unknown("", "needs a transport, and none opens", "");
    }
    findings.addAll(found);
  }

  static List<Finding> run(RdmaTransport server, Examination examination) {
    Findings findings = new Findings(NAME);
    String port = server.info().device() + " port " + server.info().port();
    OpenResult second =
        examination
            .host()
            .open(examination.settings().transport(READER, examination.token()))
            .orElseThrow();
    switch (second) {
      case OpenResult.Unavailable none ->
          findings.problem(
              port, none.reason() + ": " + none.seen(), "a second transport", none.remedy());
      case OpenResult.Opened opened -> {
        try (RdmaTransport reader = opened.transport()) {
          read(server, reader, port, findings);
        }
      }
    }
    return findings.all();
  }

  private static void read(
      RdmaTransport server, RdmaTransport reader, String port, Findings findings) {
    try (MemoryRegion region = server.allocate(ReadTrial.BYTES)) {
      ReadTrial.fill(region.segment());
      PeerAddress self = server.self();
      ReadTrial.Figures figures = new ReadTrial(reader).run(self, region.iova(), region.rkey());
      findings.ok(port, figures + ", bytes compared");
    } catch (ReadTrial.FailedException | RegistrationException e) {
      findings.problem(
          port,
          e.getMessage(),
          "READs from the port to itself",
          "look at the kernel's log (dmesg) and at the checks above; ib_read_bw -R tries the same"
              + " without Spark");
    }
  }
}
