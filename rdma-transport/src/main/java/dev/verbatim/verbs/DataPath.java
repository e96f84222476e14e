package dev.verbatim.verbs;

import static dev.verbatim.verbs.NativeCall.nonNull;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The verbs that C defines inline: calls through the driver's function pointers. They run for each
 * batch, so their handles are constants that the JIT compiles into plain calls, errno, which they
 * do not set, is not captured, and nothing is allocated.
 *
 * <p>{@code Linker.Option.critical} is not used: it saves some nanoseconds of thread state, but a
 * critical call holds up every safepoint of the JVM, and drivers do take spin locks here, whose
 * holder may be descheduled, or enter the kernel.
 */
final class DataPath {
  private static final MethodHandle POLL_CQ =
      NativeCall.bindPointer(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS));
  private static final MethodHandle REQ_NOTIFY_CQ =
      NativeCall.bindPointer(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle POST =
      NativeCall.bindPointer(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  private final FunctionPointer pollCq = new FunctionPointer(IbvContext.OPS_POLL_CQ);
  private final FunctionPointer reqNotifyCq = new FunctionPointer(IbvContext.OPS_REQ_NOTIFY_CQ);
  private final FunctionPointer postSend = new FunctionPointer(IbvContext.OPS_POST_SEND);
  private final FunctionPointer postRecv = new FunctionPointer(IbvContext.OPS_POST_RECV);

  int pollCq(MemorySegment cq, int max, MemorySegment wc) throws VerbsException {
    if (wc.byteSize() / IbvWc.STRUCT.size() < max) {
      throw new IllegalArgumentException("room for less than " + max + " completions");
    }
    MemorySegment function = pollCq.of(context(nonNull(cq, "cq"), IbvCq.CONTEXT));
    int count;
    try {
      count = (int) POLL_CQ.invokeExact(function, cq, max, wc);
    } catch (Throwable t) {
      throw NativeCall.unexpected(t);
    }
    if (count < 0) {
      throw new VerbsException("ibv_poll_cq", count == -1 ? 0 : -count, "max=" + max);
    }
    return count;
  }

  void reqNotifyCq(MemorySegment cq, boolean solicitedOnly) throws VerbsException {
    MemorySegment function = reqNotifyCq.of(context(nonNull(cq, "cq"), IbvCq.CONTEXT));
    int errno;
    try {
      errno = (int) REQ_NOTIFY_CQ.invokeExact(function, cq, solicitedOnly ? 1 : 0);
    } catch (Throwable t) {
      throw NativeCall.unexpected(t);
    }
    if (errno != 0) {
      throw new VerbsException("ibv_req_notify_cq", Math.abs(errno), "");
    }
  }

  void postSend(MemorySegment qp, MemorySegment wr, MemorySegment badWr) throws VerbsException {
    post("ibv_post_send", postSend, qp, wr, badWr);
  }

  void postRecv(MemorySegment qp, MemorySegment wr, MemorySegment badWr) throws VerbsException {
    post("ibv_post_recv", postRecv, qp, wr, badWr);
  }

  private static void post(
      String name, FunctionPointer pointer, MemorySegment qp, MemorySegment wr, MemorySegment badWr)
      throws VerbsException {
    MemorySegment function = pointer.of(context(nonNull(qp, "qp"), IbvQp.CONTEXT));
    int errno;
    try {
      errno = (int) POST.invokeExact(function, qp, wr, badWr);
    } catch (Throwable t) {
      throw NativeCall.unexpected(t);
    }
    if (errno != 0) {
      throw new VerbsException(
          name,
          Math.abs(errno),
          "first refused request " + NativeCall.hex(badWr.get(JAVA_LONG, 0)));
    }
  }

  private static long context(MemorySegment object, PointerField field) {
    return NativeCall.MEMORY.get(JAVA_LONG, object.address() + field.offset());
  }
}
