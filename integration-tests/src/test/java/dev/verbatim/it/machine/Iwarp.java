package dev.verbatim.it.machine;

import org.junit.jupiter.api.Assumptions;

/** Whether the guest's device is Linux's software iWARP, {@code siw}. */
public final class Iwarp {
  public static final String DEVICE = "siw0";

  private Iwarp() {}

  public static boolean present() {
    return DEVICE.equals(System.getenv("VERBATIM_RDMA_DEVICE"));
  }

  /** Skips a test of what iWARP, or this driver, has not. */
  public static void assumeAbsent(String why) {
    Assumptions.assumeFalse(present(), "iWARP: " + why);
  }
}
