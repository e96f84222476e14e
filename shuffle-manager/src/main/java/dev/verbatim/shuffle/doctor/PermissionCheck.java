package dev.verbatim.shuffle.doctor;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** This process must be able to open the files of devices that may be used, in /dev/infiniband. */
final class PermissionCheck implements Check {
  private static final String FOLDER = "/dev/infiniband";
  private static final String FILES = "/sys/class/infiniband_verbs";
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
    Map<String, String> leftOut = leftOut(examination);
    if (files.stream().noneMatch(f -> f.startsWith("uverbs") && !leftOut.containsKey(f))) {
      findings.problem(
          "",
          FOLDER + " has no uverbs of a device that may be used: " + files,
          NEEDED,
          "modprobe ib_uverbs; in a container, docker run --device /dev/infiniband, or the device"
              + " plugin of Kubernetes");
    }
    if (!files.contains("rdma_cm")) {
      findings.problem(
          "", FOLDER + " has no rdma_cm: " + files, NEEDED, "modprobe rdma_ucm, on the host");
    }
    for (String file : files) {
      if (leftOut.containsKey(file)) {
        findings.ok(
            FOLDER + "/" + file, "of " + leftOut.get(file) + ", which the settings leave out");
      } else if (file.startsWith("uverbs") || file.equals("rdma_cm")) {
        examine(FOLDER + "/" + file, host.access(FOLDER + "/" + file), findings);
      }
    }
  }

  /** Devices that the settings leave out, by the names of their files. */
  private static Map<String, String> leftOut(Examination examination) {
    Host host = examination.host();
    List<String> examined = examination.ports().stream().map(RdmaPort::device).toList();
    Map<String, String> devices = new HashMap<>();
    for (String file : host.list(FILES)) {
      Optional<String> device = host.read(FILES + "/" + file + "/ibdev");
      // Where they leave out all, that is said by the check of devices.
      device
          .filter(name -> !examined.isEmpty() && !examined.contains(name))
          .ifPresent(name -> devices.put(file, name));
    }
    return devices;
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
