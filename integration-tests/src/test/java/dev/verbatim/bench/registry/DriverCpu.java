package dev.verbatim.bench.registry;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * CPU time of this process, all threads: what serves the executors, the collector and the compiler.
 * By clock_gettime(2), since Java's own answer moves in steps of 10 ms.
 */
final class DriverCpu {
  private static final int CLOCK_PROCESS_CPUTIME_ID = 2;
  private static final MethodHandle CLOCK_GETTIME =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("clock_gettime"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
  private static final MemorySegment TIMESPEC = Arena.global().allocate(2 * Long.BYTES);

  private long nanos;

  interface Work {
    void run() throws Exception;
  }

  /** Does something and counts what it takes. */
  void count(Work work) throws Exception {
    long before = now();
    work.run();
    nanos += now() - before;
  }

  double millis() {
    return nanos / 1e6;
  }

  private static long now() {
    try {
      if ((int) CLOCK_GETTIME.invokeExact(CLOCK_PROCESS_CPUTIME_ID, TIMESPEC) != 0) {
        throw new IllegalStateException("clock_gettime");
      }
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
    return TIMESPEC.get(ValueLayout.JAVA_LONG, 0) * 1_000_000_000
        + TIMESPEC.get(ValueLayout.JAVA_LONG, Long.BYTES);
  }
}
