package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.conf.RdmaConf;

/** The device should allow as many READs under way as the settings want. */
final class ReadDepthCheck extends PortCheck {
  ReadDepthCheck() {
    super("read-depth");
  }

  @Override
  void examine(RdmaPort port, Examination examination, Findings findings) {
    int wanted = examination.settings().rdma().get(RdmaConf.READ_DEPTH);
    examination
        .verbs()
        .port(port.device(), port.number())
        .ifPresentOrElse(
            verbs -> examine(verbs, wanted, findings),
            () -> findings.unknown(port.device(), "the library has it not open", ""));
  }

  private static void examine(VerbsView.Port port, int wanted, Findings findings) {
    String seen =
        "max_qp_init_rd_atom %d, max_qp_rd_atom %d; wanted %d"
            .formatted(port.readsAsked(), port.readsServed(), wanted);
    int least = Math.min(port.readsAsked(), port.readsServed());
    if (least == 0) {
      findings.problem(
          port.device(),
          seen,
          "READs at all",
          "use another device: spark.shuffle.rdma.device; or update the firmware");
    } else if (least < wanted) {
      findings.warning(
          port.device(),
          seen,
          "no fewer than spark.shuffle.rdma.readDepth",
          "spark.shuffle.rdma.qpsPerPeer="
              + Math.clamp(Math.ceilDiv(wanted, least), 2, 64)
              + " keeps as many under way; or update the firmware");
    } else {
      findings.ok(port.device(), seen);
    }
  }
}
