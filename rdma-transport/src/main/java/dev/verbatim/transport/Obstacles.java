package dev.verbatim.transport;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.VerbsException;

/** Turns what a native call reported at start into a reason with a remedy. */
final class Obstacles {
  static final String PERMISSION_REMEDY =
      "let the process open the files under /dev/infiniband: they need mode 0666 or its group, and"
          + " a container needs them as devices";

  private Obstacles() {}

  static boolean isPermission(int errno) {
    return errno == Errno.EACCES || errno == Errno.EPERM;
  }

  /** Why the list of devices cannot be had. */
  static OpenResult.Unavailable ofListing(VerbsException e) {
    if (isPermission(e.errno())) {
      return new OpenResult.Unavailable(
          UnavailableReason.NO_PERMISSION, e.getMessage(), PERMISSION_REMEDY);
    }
    if (e.errno() == Errno.ENOSYS || e.errno() == Errno.ENOENT || e.errno() == Errno.ENODEV) {
      return new OpenResult.Unavailable(
          UnavailableReason.NO_DEVICE,
          e.getMessage(),
          "load the kernel's RDMA modules (ib_uverbs and the device's driver)");
    }
    return deviceError(e);
  }

  /** Why RDMA CM cannot be used. */
  static OpenResult.Unavailable ofConnectionManager(VerbsException e) {
    if (isPermission(e.errno())) {
      return new OpenResult.Unavailable(
          UnavailableReason.NO_PERMISSION,
          e.getMessage() + "; /dev/infiniband/rdma_cm",
          PERMISSION_REMEDY);
    }
    return new OpenResult.Unavailable(
        UnavailableReason.DEVICE_ERROR,
        e.getMessage(),
        "load the kernel's module rdma_ucm, and give a container /dev/infiniband/rdma_cm");
  }

  /** Why the listener's address cannot be bound. */
  static OpenResult.Unavailable ofBinding(VerbsException e, String seen) {
    if (e.errno() == Errno.EADDRINUSE) {
      return new OpenResult.Unavailable(
          UnavailableReason.DEVICE_ERROR,
          e.getMessage() + "; " + seen,
          "choose another listen port, or 0 to let the system choose");
    }
    if (e.errno() == Errno.ENODEV || e.errno() == Errno.EADDRNOTAVAIL) {
      return new OpenResult.Unavailable(
          UnavailableReason.ADDRESS_NOT_RDMA,
          e.getMessage() + "; " + seen,
          "name an address that belongs to an RDMA device");
    }
    return deviceError(e);
  }

  /** Why protection domain, completion queue or listener cannot be made. */
  static OpenResult.Unavailable ofResources(VerbsException e, Memlock memlock) {
    boolean limited = e.errno() == Errno.EPERM || e.errno() == Errno.ENOMEM && memlock.isEnforced();
    return limited
        ? new OpenResult.Unavailable(
            UnavailableReason.MEMLOCK, e.getMessage() + "; " + memlock.describe(), Memlock.REMEDY)
        : deviceError(e);
  }

  /** Why the pool's first slab cannot be registered. */
  static OpenResult.Unavailable ofRegistration(RegistrationException e) {
    return e.kind() == RegistrationException.Kind.MEMLOCK
        ? new OpenResult.Unavailable(UnavailableReason.MEMLOCK, e.getMessage(), Memlock.REMEDY)
        : new OpenResult.Unavailable(UnavailableReason.DEVICE_ERROR, e.getMessage(), DEVICE_REMEDY);
  }

  private static final String DEVICE_REMEDY =
      "look at the kernel's log (`dmesg`) and at `ibv_devinfo -v`";

  private static OpenResult.Unavailable deviceError(VerbsException e) {
    return new OpenResult.Unavailable(
        UnavailableReason.DEVICE_ERROR, e.getMessage(), DEVICE_REMEDY);
  }
}
