package dev.verbatim.transport;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.VerbsException;

/** Turns what a native call reported at start into a reason with a remedy. */
final class Obstacles {
  static final String PERMISSION_REMEDY =
      "let the process open the files under /dev/infiniband: they need mode 0666 or its group, and"
          + " a container needs them as devices";

  static final String CONTAINER_REMEDY =
      "in a container, use the host's network, or give the container an interface of the RDMA"
          + " device (macvlan, or an SR-IOV virtual function and its RDMA device), and"
          + " /dev/infiniband";

  private Obstacles() {}

  static boolean isPermission(int errno) {
    return errno == Errno.EACCES || errno == Errno.EPERM;
  }

  /** Whether an errno of binding says that no RDMA device has the address. */
  static boolean isNotOfDevice(int errno) {
    return switch (errno) {
      // The latter two: addresses that RDMA CM knows no way to bind to, as some of IPv6.
      case Errno.ENODEV, Errno.EADDRNOTAVAIL, Errno.EINVAL, Errno.EAFNOSUPPORT -> true;
      default -> false;
    };
  }

  /** Why a device that exists cannot be used. */
  static OpenResult.Unavailable ofDevice(VerbsException e, String seen) {
    return isPermission(e.errno())
        ? new OpenResult.Unavailable(UnavailableReason.NO_PERMISSION, seen, PERMISSION_REMEDY)
        : deviceError(e, seen);
  }

  /** Why the list of devices cannot be had. */
  static OpenResult.Unavailable ofListing(VerbsException e) {
    return isAbsent(e.errno())
        ? new OpenResult.Unavailable(
            UnavailableReason.NO_DEVICE,
            e.getMessage(),
            "load the kernel's RDMA modules (ib_uverbs and the device's driver)")
        : ofDevice(e, e.getMessage());
  }

  /** Why RDMA CM cannot be used. */
  static OpenResult.Unavailable ofConnectionManager(VerbsException e) {
    if (isPermission(e.errno())) {
      return new OpenResult.Unavailable(
          UnavailableReason.NO_PERMISSION,
          e.getMessage() + "; /dev/infiniband/rdma_cm",
          PERMISSION_REMEDY);
    }
    return isAbsent(e.errno())
        ? new OpenResult.Unavailable(
            UnavailableReason.DEVICE_ERROR,
            e.getMessage(),
            "load the kernel's module rdma_ucm, and give a container /dev/infiniband/rdma_cm")
        : deviceError(e, e.getMessage());
  }

  private static boolean isAbsent(int errno) {
    return errno == Errno.ENOSYS || errno == Errno.ENOENT || errno == Errno.ENODEV;
  }

  /** Why an address cannot be bound, or listened at. */
  static OpenResult.Unavailable ofBinding(VerbsException e, String seen) {
    return switch (e.errno()) {
      case Errno.EADDRINUSE, Errno.EACCES ->
          new OpenResult.Unavailable(
              UnavailableReason.DEVICE_ERROR,
              seen,
              "choose another listen port, or 0 to let the system choose");
      case Errno.ENODEV, Errno.EADDRNOTAVAIL ->
          new OpenResult.Unavailable(
              UnavailableReason.ADDRESS_NOT_RDMA,
              seen,
              "name an address that belongs to an RDMA device");
      default -> deviceError(e, seen);
    };
  }

  /** Why protection domain, completion queue or listener cannot be made. */
  static OpenResult.Unavailable ofResources(VerbsException e, Memlock memlock) {
    boolean limited = e.errno() == Errno.EPERM || e.errno() == Errno.ENOMEM && memlock.isEnforced();
    return limited
        ? new OpenResult.Unavailable(
            UnavailableReason.MEMLOCK, e.getMessage() + "; " + memlock.describe(), Memlock.REMEDY)
        : deviceError(e, e.getMessage());
  }

  /** Why the pool's first slab cannot be registered. */
  static OpenResult.Unavailable ofRegistration(RegistrationException e) {
    return switch (e.kind()) {
      case MEMLOCK ->
          new OpenResult.Unavailable(UnavailableReason.MEMLOCK, e.getMessage(), Memlock.REMEDY);
      case MAPPING ->
          new OpenResult.Unavailable(
              UnavailableReason.MAPPING_LIMIT, e.getMessage(), MapRoom.REMEDY);
      case NOT_PINNABLE, FILE, DEVICE ->
          new OpenResult.Unavailable(UnavailableReason.DEVICE_ERROR, e.getMessage(), DEVICE_REMEDY);
    };
  }

  private static final String DEVICE_REMEDY =
      "look at the kernel's log (`dmesg`) and at `ibv_devinfo -v`";

  private static OpenResult.Unavailable deviceError(VerbsException e, String seen) {
    String remedy =
        switch (e.errno()) {
          case Errno.EMFILE ->
              "raise the limit of open files of this process: LimitNOFILE in the systemd unit of"
                  + " the worker or node manager, docker run --ulimit nofile, limits.conf";
          case Errno.ENFILE -> "raise the kernel's limit of open files, fs.file-max";
          default -> DEVICE_REMEDY;
        };
    return new OpenResult.Unavailable(UnavailableReason.DEVICE_ERROR, seen, remedy);
  }
}
