package dev.verbatim.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.function.Supplier;

/**
 * The one way in which C functions off the hot path are called: errno is captured, a return value
 * that says failure becomes a {@link VerbsException}.
 */
final class NativeCall {
  /** The whole address space, to follow pointers without making a segment for each. */
  static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final long ERRNO =
      STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
  private static final ThreadLocal<MemorySegment> THREAD_STATE =
      ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(STATE));

  private NativeCall() {}

  /** A call whose first argument receives errno. */
  interface IntCall {
    int call(MemorySegment state) throws Throwable;
  }

  /** A call whose first argument receives errno. */
  interface PointerCall {
    MemorySegment call(MemorySegment state) throws Throwable;
  }

  /** A handle whose first argument is the memory that receives errno. */
  static MethodHandle bind(
      MemorySegment function, FunctionDescriptor descriptor, Linker.Option... options) {
    Linker.Option[] all = new Linker.Option[options.length + 1];
    all[0] = Linker.Option.captureCallState("errno");
    System.arraycopy(options, 0, all, 1, options.length);
    return LINKER.downcallHandle(function, descriptor, all);
  }

  /** A handle whose first argument is the function's address; errno is not captured. */
  static MethodHandle bindPointer(FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(descriptor);
  }

  /** A handle whose first arguments are the function's address and the memory for errno. */
  static MethodHandle bindPointerWithErrno(FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(descriptor, Linker.Option.captureCallState("errno"));
  }

  /**
   * Calls a function that returns 0 for success, and for failure either the errno itself or a
   * negative number with errno set.
   *
   * @return 0 or the errno
   */
  static int errno(IntCall call) {
    MemorySegment state = THREAD_STATE.get();
    int result;
    try {
      result = call.call(state);
    } catch (Throwable t) {
      throw unexpected(t);
    }
    return result < 0 ? capturedErrno(state) : result;
  }

  /** As {@link #errno(IntCall)}, with an exception for failure. */
  static void check(String function, IntCall call, Supplier<String> arguments)
      throws VerbsException {
    int errno = errno(call);
    if (errno != 0) {
      throw new VerbsException(function, errno, arguments.get());
    }
  }

  /** Calls a function that returns a number from 0, or a negative number with errno set. */
  static int number(String function, IntCall call, Supplier<String> arguments)
      throws VerbsException {
    MemorySegment state = THREAD_STATE.get();
    int result;
    try {
      result = call.call(state);
    } catch (Throwable t) {
      throw unexpected(t);
    }
    if (result < 0) {
      throw new VerbsException(function, capturedErrno(state), arguments.get());
    }
    return result;
  }

  /** Calls a function that returns a pointer, or NULL with errno set. */
  static MemorySegment pointer(String function, PointerCall call, Supplier<String> arguments)
      throws VerbsException {
    MemorySegment state = THREAD_STATE.get();
    MemorySegment result;
    try {
      result = call.call(state);
    } catch (Throwable t) {
      throw unexpected(t);
    }
    if (result.address() == 0) {
      throw new VerbsException(function, capturedErrno(state), arguments.get());
    }
    return result;
  }

  /** Calls a function that cannot fail. */
  static <T> T plain(PlainCall<T> call) {
    try {
      return call.call(THREAD_STATE.get());
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Calls a function that returns nothing. */
  static void run(VoidCall call) {
    try {
      call.call(THREAD_STATE.get());
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /**
   * Calls a function that takes something from a descriptor.
   *
   * @return false where there was nothing, or a signal came first
   */
  static boolean gotOne(String function, IntCall call) throws VerbsException {
    int errno = errno(call);
    if (errno == Errno.EAGAIN || errno == Errno.EINTR) {
      return false;
    }
    if (errno != 0) {
      throw new VerbsException(function, errno, "");
    }
    return true;
  }

  /** A call that cannot fail. */
  interface PlainCall<T> {
    T call(MemorySegment state) throws Throwable;
  }

  /** A call without a result. */
  interface VoidCall {
    void call(MemorySegment state) throws Throwable;
  }

  /** Stops a NULL before C meets it. */
  static MemorySegment nonNull(MemorySegment pointer, String what) {
    if (pointer.address() == 0) {
      throw new NullPointerException(what + " is NULL");
    }
    return pointer;
  }

  static String hex(long number) {
    return "0x" + Long.toHexString(number);
  }

  /** What a handle throws by itself is a misuse of segments, or cannot happen. */
  static RuntimeException unexpected(Throwable thrown) {
    if (thrown instanceof RuntimeException e) {
      return e;
    }
    if (thrown instanceof Error e) {
      throw e;
    }
    throw new AssertionError(thrown);
  }

  private static int capturedErrno(MemorySegment state) {
    return state.get(ValueLayout.JAVA_INT, ERRNO);
  }
}
