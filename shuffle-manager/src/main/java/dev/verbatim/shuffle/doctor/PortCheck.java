package dev.verbatim.shuffle.doctor;

/** A check of each RDMA port that may be used. */
abstract class PortCheck implements Check {
  static final String NO_PORT = "there is no RDMA port to look at";

  private final String name;

  PortCheck(String name) {
    this.name = name;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final void examine(Examination examination, Findings findings) {
    if (examination.ports().isEmpty()) {
      findings.unknown("", NO_PORT, "");
    }
    for (RdmaPort port : examination.ports()) {
      examine(port, examination, findings);
    }
  }

  abstract void examine(RdmaPort port, Examination examination, Findings findings);
}
