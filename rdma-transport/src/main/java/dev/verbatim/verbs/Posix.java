package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;

/**
 * The few functions of the C library that the transport needs beside the verbs. Files are mapped by
 * {@link java.nio.channels.FileChannel#map(java.nio.channels.FileChannel.MapMode, long, long,
 * java.lang.foreign.Arena)}, not by these.
 */
public interface Posix {

  /**
   * {@code mmap(2)}.
   *
   * @param length bytes, from 1
   * @param prot {@code PROT_*}
   * @param flags {@code MAP_*}
   * @param fd file, or -1 with {@code MAP_ANONYMOUS}
   * @return a segment of that length that is accessible until {@link #munmap}, and crashes after it
   */
  MemorySegment mmap(long length, int prot, int flags, int fd, long offset) throws VerbsException;

  /** {@code munmap(2)} of a whole segment. */
  void munmap(MemorySegment mapping) throws VerbsException;

  /** {@code madvise(2)}. */
  void madvise(MemorySegment mapping, int advice) throws VerbsException;

  /**
   * {@code getrlimit(2)} into a {@link Rlimit}.
   *
   * @param resource for example {@link PosixConstants#RLIMIT_MEMLOCK}
   */
  void getrlimit(int resource, MemorySegment rlimit) throws VerbsException;

  /**
   * {@code sched_getaffinity(2)} of the calling thread.
   *
   * @param mask {@code cpu_set_t}: a bit for each processor, as many as the kernel has at least
   */
  void getAffinity(MemorySegment mask) throws VerbsException;

  /** {@code sched_setaffinity(2)} of the calling thread; a mask as for {@link #getAffinity}. */
  void setAffinity(MemorySegment mask) throws VerbsException;

  /**
   * {@code mbind(2)} of a whole segment, for pages that are not there yet.
   *
   * @param mode for example {@link PosixConstants#MPOL_PREFERRED}
   * @param nodes a bit for each NUMA node
   */
  void mbind(MemorySegment mapping, int mode, MemorySegment nodes) throws VerbsException;

  /**
   * {@code get_mempolicy(2)}.
   *
   * @param nodes receives the policy's nodes, as many bits as the kernel has nodes at least; NULL
   *     for none
   * @param address what the policy is that of with {@link PosixConstants#MPOL_F_ADDR}, or NULL
   * @param flags 0 for the calling thread's policy
   * @return the mode
   */
  int getMempolicy(MemorySegment nodes, MemorySegment address, int flags) throws VerbsException;

  /** Page size of the running kernel, bytes, by {@code sysconf(3)}. */
  long pageSize();

  /**
   * {@code poll(2)}.
   *
   * @param fds array of {@code count} {@link Pollfd}
   * @param timeoutMillis -1 waits for ever
   * @return number of descriptors with events; 0 for none in time or when a signal interrupted
   */
  int poll(MemorySegment fds, int count, int timeoutMillis) throws VerbsException;

  /** {@code eventfd(2)} with counter 0, close-on-exec and non-blocking: wakes a poller. */
  int eventfd() throws VerbsException;

  /** Adds 1 to an event descriptor, so that it is readable. */
  void signal(int eventfd) throws VerbsException;

  /** Resets an event descriptor to 0, so that it is not readable. */
  void drain(int eventfd) throws VerbsException;

  /** Sets O_NONBLOCK by {@code fcntl(2)}. */
  void setNonBlocking(int fd) throws VerbsException;

  /** {@code close(2)}. */
  void close(int fd) throws VerbsException;
}
