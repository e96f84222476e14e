package dev.verbatim.shuffle.doctor;

/** Looks at one thing that RDMA needs of a host. Changes nothing there. */
interface Check {
  /** As options and reports name it. */
  String name();

  /** Adds one finding at least. */
  void examine(Examination examination, Findings findings);
}
