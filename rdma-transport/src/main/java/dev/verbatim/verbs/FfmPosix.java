package dev.verbatim.verbs;

import static dev.verbatim.verbs.NativeCall.nonNull;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.verbatim.verbs.Symbols.MissingFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** {@link Posix} by the foreign function API. */
final class FfmPosix implements Posix {
  private static final long MAP_FAILED = -1;

  private static final Syscalls SYSCALLS = Syscalls.ofThisHost();

  private final MethodHandle mmap;
  private final MethodHandle munmap;
  private final MethodHandle madvise;
  private final MethodHandle getrlimit;
  private final MethodHandle schedGetaffinity;
  private final MethodHandle schedSetaffinity;
  private final MethodHandle mbind;
  private final MethodHandle getMempolicy;
  private final MethodHandle sysconf;
  private final MethodHandle poll;
  private final MethodHandle eventfd;
  private final MethodHandle write;
  private final MethodHandle read;
  private final MethodHandle fcntl;
  private final MethodHandle close;

  /** What {@link #signal} writes: the number 1. */
  private final MemorySegment one;

  /** Where {@link #drain} reads to; the value is not used. */
  private final MemorySegment sink;

  private final long pageSize;

  FfmPosix(Symbols library) throws MissingFunction {
    FunctionDescriptor longOfDescriptorAndBuffer =
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    mmap =
        library.bind(
            "mmap",
            FunctionDescriptor.of(
                ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    munmap = library.bind("munmap", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
    madvise =
        library.bind("madvise", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    getrlimit = library.bind("getrlimit", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
    FunctionDescriptor affinity = FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS);
    schedGetaffinity = library.bind("sched_getaffinity", affinity);
    schedSetaffinity = library.bind("sched_setaffinity", affinity);
    mbind =
        library.bind(
            "syscall",
            FunctionDescriptor.of(
                JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG),
            Linker.Option.firstVariadicArg(1));
    getMempolicy =
        library.bind(
            "syscall",
            FunctionDescriptor.of(
                JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG),
            Linker.Option.firstVariadicArg(1));
    sysconf = library.bind("sysconf", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
    poll = library.bind("poll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    eventfd = library.bind("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    write = library.bind("write", longOfDescriptorAndBuffer);
    read = library.bind("read", longOfDescriptorAndBuffer);
    fcntl =
        library.bind(
            "fcntl",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
            Linker.Option.firstVariadicArg(2));
    close = library.bind("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    one = Arena.global().allocateFrom(JAVA_LONG, 1);
    sink = Arena.global().allocate(JAVA_LONG);
    pageSize =
        NativeCall.plain(errno -> (long) sysconf.invokeExact(errno, PosixConstants.SC_PAGESIZE));
  }

  @Override
  public MemorySegment mmap(long length, int prot, int flags, int fd, long offset)
      throws VerbsException {
    MemorySegment mapping =
        NativeCall.pointer(
            "mmap",
            errno -> {
              MemorySegment result =
                  (MemorySegment)
                      mmap.invokeExact(errno, MemorySegment.NULL, length, prot, flags, fd, offset);
              return result.address() == MAP_FAILED ? MemorySegment.NULL : result;
            },
            () ->
                "length="
                    + length
                    + ", prot="
                    + NativeCall.hex(prot)
                    + ", flags="
                    + NativeCall.hex(flags)
                    + ", offset="
                    + offset);
    return mapping.reinterpret(length);
  }

  @Override
  public void munmap(MemorySegment mapping) throws VerbsException {
    nonNull(mapping, "mapping");
    long length = mapping.byteSize();
    NativeCall.check(
        "munmap",
        errno -> (int) munmap.invokeExact(errno, mapping, length),
        () -> "length=" + length);
  }

  @Override
  public void madvise(MemorySegment mapping, int advice) throws VerbsException {
    nonNull(mapping, "mapping");
    long length = mapping.byteSize();
    NativeCall.check(
        "madvise",
        errno -> (int) madvise.invokeExact(errno, mapping, length, advice),
        () -> "length=" + length + ", advice=" + advice);
  }

  @Override
  public void getrlimit(int resource, MemorySegment rlimit) throws VerbsException {
    NativeCall.check(
        "getrlimit",
        errno -> (int) getrlimit.invokeExact(errno, resource, rlimit),
        () -> "resource=" + resource);
  }

  @Override
  public void getAffinity(MemorySegment mask) throws VerbsException {
    NativeCall.check(
        "sched_getaffinity",
        errno -> (int) schedGetaffinity.invokeExact(errno, 0, mask.byteSize(), mask),
        () -> "cpusetsize=" + mask.byteSize());
  }

  @Override
  public void setAffinity(MemorySegment mask) throws VerbsException {
    NativeCall.check(
        "sched_setaffinity",
        errno -> (int) schedSetaffinity.invokeExact(errno, 0, mask.byteSize(), mask),
        () -> "cpusetsize=" + mask.byteSize());
  }

  @Override
  public void mbind(MemorySegment mapping, int mode, MemorySegment nodes) throws VerbsException {
    nonNull(mapping, "mapping");
    long length = mapping.byteSize();
    NativeCall.check(
        "mbind",
        errno ->
            (int)
                (long)
                    mbind.invokeExact(
                        errno,
                        SYSCALLS.mbind,
                        mapping,
                        length,
                        (long) mode,
                        nodes,
                        bits(nodes),
                        0L),
        () -> "length=" + length + ", mode=" + mode);
  }

  @Override
  public int getMempolicy(MemorySegment nodes, MemorySegment address, int flags)
      throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mode = arena.allocate(JAVA_INT);
      NativeCall.check(
          "get_mempolicy",
          errno ->
              (int)
                  (long)
                      getMempolicy.invokeExact(
                          errno,
                          SYSCALLS.getMempolicy,
                          mode,
                          nodes,
                          bits(nodes),
                          address,
                          (long) flags),
          () -> "flags=" + flags);
      return mode.get(JAVA_INT, 0);
    }
  }

  /** The kernel takes one less for the last one. */
  private static long bits(MemorySegment mask) {
    return mask.address() == 0 ? 0 : Byte.SIZE * mask.byteSize() + 1;
  }

  @Override
  public long pageSize() {
    return pageSize;
  }

  @Override
  public int poll(MemorySegment fds, int count, int timeoutMillis) throws VerbsException {
    if (fds.byteSize() / Pollfd.STRUCT.size() < count) {
      throw new IllegalArgumentException("room for less than " + count + " descriptors");
    }
    try {
      return NativeCall.number(
          "poll",
          errno -> (int) poll.invokeExact(errno, fds, (long) count, timeoutMillis),
          () -> "count=" + count);
    } catch (VerbsException e) {
      if (e.errno() == Errno.EINTR) {
        return 0;
      }
      throw e;
    }
  }

  @Override
  public int eventfd() throws VerbsException {
    return NativeCall.number(
        "eventfd",
        errno ->
            (int)
                eventfd.invokeExact(
                    errno, 0, PosixConstants.EFD_CLOEXEC | PosixConstants.EFD_NONBLOCK),
        () -> "");
  }

  @Override
  public void signal(int eventfd) throws VerbsException {
    // EAGAIN: the counter is full, so the descriptor is readable already.
    NativeCall.gotOne("write", errno -> sign((long) write.invokeExact(errno, eventfd, one, 8L)));
  }

  @Override
  public void drain(int eventfd) throws VerbsException {
    NativeCall.gotOne("read", errno -> sign((long) read.invokeExact(errno, eventfd, sink, 8L)));
  }

  /** A count of bytes as success, a failure as it is. */
  private static int sign(long result) {
    return result < 0 ? -1 : 0;
  }

  @Override
  public void setNonBlocking(int fd) throws VerbsException {
    int flags =
        NativeCall.number(
            "fcntl",
            errno -> (int) fcntl.invokeExact(errno, fd, PosixConstants.F_GETFL, 0),
            () -> "fd=" + fd + ", F_GETFL");
    NativeCall.number(
        "fcntl",
        errno ->
            (int)
                fcntl.invokeExact(
                    errno, fd, PosixConstants.F_SETFL, flags | PosixConstants.O_NONBLOCK),
        () -> "fd=" + fd + ", F_SETFL");
  }

  @Override
  public void close(int fd) throws VerbsException {
    NativeCall.check("close", errno -> (int) close.invokeExact(errno, fd), () -> "fd=" + fd);
  }
}
