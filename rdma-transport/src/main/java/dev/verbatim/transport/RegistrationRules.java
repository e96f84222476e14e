package dev.verbatim.transport;

import dev.verbatim.device.DeviceInfo;
import dev.verbatim.verbs.TransportType;
import dev.verbatim.verbs.VerbsConstants;

/**
 * What a device's kind asks of registrations.
 *
 * @param sinkAccess of memory that the device puts into what it reads from peers
 * @param anyIova whether a region can have another address for peers than it has in this process
 */
record RegistrationRules(int sinkAccess, boolean anyIova) {
  /** Linux's software iWARP driver, siw: "bmt". */
  private static final int SIW_VENDOR = 0x626d74;

  static RegistrationRules of(DeviceInfo device) {
    return of(device.transportType(), device.vendorId());
  }

  static RegistrationRules of(TransportType transport, int vendor) {
    boolean iwarp = transport == TransportType.IWARP;
    int sink = VerbsConstants.IBV_ACCESS_LOCAL_WRITE;
    if (iwarp) {
      // The answer to a READ is the peer's write to the sink's own key (RFC 5040).
      sink |= VerbsConstants.IBV_ACCESS_REMOTE_WRITE;
    }
    // siw takes the address wanted without complaint and then goes by the memory's own.
    return new RegistrationRules(sink, !iwarp || vendor != SIW_VENDOR);
  }

  /** The access to ask for so that the device gives the one wanted, READs into it included. */
  int access(int wanted) {
    boolean sink = (wanted & VerbsConstants.IBV_ACCESS_LOCAL_WRITE) != 0;
    return sink ? wanted | sinkAccess : wanted;
  }
}
