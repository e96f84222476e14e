package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsConstants;
import java.util.Set;

/**
 * What a peer that knows address and key of an {@link EndpointBuffer} may do with it. Without any
 * of these a buffer is for the own process alone, which may always read and write it. An iWARP
 * device lets peers that know the key write to any buffer, since it answers READs by such writes.
 */
public enum MemoryAccess {
  /** READ. */
  REMOTE_READ(VerbsConstants.IBV_ACCESS_REMOTE_READ),
  /** WRITE, with immediate data or without. */
  REMOTE_WRITE(VerbsConstants.IBV_ACCESS_REMOTE_WRITE),
  /** Fetch-and-add, compare-and-swap. */
  REMOTE_ATOMIC(VerbsConstants.IBV_ACCESS_REMOTE_ATOMIC);

  private final int flag;

  MemoryAccess(int flag) {
    this.flag = flag;
  }

  /** {@code IBV_ACCESS_*} of memory with these rights, which the own device may write to. */
  static int flags(Set<MemoryAccess> access) {
    int flags = VerbsConstants.IBV_ACCESS_LOCAL_WRITE;
    for (MemoryAccess right : access) {
      flags |= right.flag;
    }
    return flags;
  }
}
