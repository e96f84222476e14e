package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Start-up checks of an open device against what can be known by other means, so that a library
 * whose structs are not those of this program is refused before a wrong offset crashes the JVM.
 */
public final class LibraryCheck {
  private static final int MAX_COMP_VECTORS = 1 << 16;

  private LibraryCheck() {}

  /**
   * Checks a freshly opened device.
   *
   * @param device what was opened
   * @param context what {@link Verbs#openDevice} answered for it
   * @return what is wrong, or empty
   */
  public static Optional<String> problem(Verbs verbs, MemorySegment device, MemorySegment context) {
    String name = verbs.getDeviceName(device);
    if (IbvContext.DEVICE.getAddress(context) != device.address()) {
      return wrong("ibv_context.device is not the device that was opened", name);
    }
    String structName = IbvDevice.NAME.text(IbvDevice.STRUCT.at(device));
    if (!structName.equals(name)) {
      return wrong("ibv_device.name is '" + structName + "'", name);
    }
    if (IbvContext.OPS_POLL_CQ.getAddress(context) == 0
        || IbvContext.OPS_REQ_NOTIFY_CQ.getAddress(context) == 0
        || IbvContext.OPS_POST_SEND.getAddress(context) == 0
        || IbvContext.OPS_POST_RECV.getAddress(context) == 0) {
      return wrong("ibv_context.ops lacks a function", name);
    }
    if (IbvContext.ASYNC_FD.get(context) < 0) {
      return wrong("ibv_context.async_fd is " + IbvContext.ASYNC_FD.get(context), name);
    }
    int vectors = IbvContext.NUM_COMP_VECTORS.get(context);
    if (vectors < 1 || vectors > MAX_COMP_VECTORS) {
      return wrong("ibv_context.num_comp_vectors is " + vectors, name);
    }
    return Optional.empty();
  }

  private static Optional<String> wrong(String seen, String device) {
    return Optional.of(
        seen + " for device " + device + ": the library's structs are not those of rdma-core");
  }
}
