package dev.verbatim.shuffle.doctor;

import java.util.List;
import java.util.Optional;

/** This process must be able to open the device's files under /dev/infiniband. */
final class PermissionCheck implements Check {
  private static final String FOLDER = "/dev/infiniband";
  private static final String NEEDED = "uverbs of the device and rdma_cm, readable and writable";

  @Override
  public String name() {
    return "dev-infiniband";
  }

  @Override
  public void examine(Examination examination, Findings findings) {
    Host host = examination.host();
    if (host.list(RdmaPort.DEVICES).isEmpty()) {
      findings.unknown("", "there is no RDMA device that has files", "");
      return;
    }
    List<String> files = host.list(FOLDER);
    if (files.stream().noneMatch(file -> file.startsWith("uverbs"))) {
      findings.problem(
          "",
          FOLDER + " has no uverbs: " + files,
          NEEDED,
          "modprobe ib_uverbs; in a container, docker run --device /dev/infiniband, or the device"
              + " plugin of Kubernetes");
    }
    if (!files.contains("rdma_cm")) {
      findings.problem(
          "", FOLDER + " has no rdma_cm: " + files, NEEDED, "modprobe rdma_ucm, on the host");
    }
    for (String file : files) {
      if (file.startsWith("uverbs") || file.equals("rdma_cm")) {
        examine(FOLDER + "/" + file, host.access(FOLDER + "/" + file), findings);
      }
    }
  }

  private static void examine(String file, Optional<Access> access, Findings findings) {
    if (access.isPresent() && access.get().usable()) {
      findings.ok(file, access.get().toString());
    } else {
      findings.problem(
          file,
          access.map(Access::toString).orElse("its rights cannot be read"),
          NEEDED,
          "chmod 0666 "
              + file
              + " (rdma-core's rules for udev do so), or put the user into its group");
    }
  }
}
