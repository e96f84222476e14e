package dev.verbatim.verbs;

/** Flags and numbers of Linux's C library, named as there; the same on x86-64 and aarch64. */
public final class PosixConstants {
  public static final int PROT_READ = 1;
  public static final int PROT_WRITE = 2;
  public static final int MAP_SHARED = 1;
  public static final int MAP_PRIVATE = 2;
  public static final int MAP_ANONYMOUS = 0x20;
  public static final int MAP_HUGETLB = 0x40000;

  /** For {@code madvise}: give the pages back, keep the addresses. */
  public static final int MADV_DONTNEED = 4;

  /** For {@code madvise}: use transparent huge pages. */
  public static final int MADV_HUGEPAGE = 14;

  /** Of {@code mbind}: memory of the nearest node. */
  public static final int MPOL_DEFAULT = 0;

  /** Of {@code mbind}: memory of a node, of others when that has none left. */
  public static final int MPOL_PREFERRED = 1;

  /** Of {@code get_mempolicy}: the policy of an address. */
  public static final int MPOL_F_ADDR = 2;

  public static final int RLIMIT_MEMLOCK = 8;
  public static final int RLIMIT_AS = 9;

  /** {@code RLIM_INFINITY}, as an unsigned number. */
  public static final long RLIM_INFINITY = -1L;

  public static final int SC_PAGESIZE = 30;

  public static final int POLLIN = 1;
  public static final int POLLERR = 8;
  public static final int POLLHUP = 0x10;
  public static final int POLLNVAL = 0x20;

  public static final int F_GETFL = 3;
  public static final int F_SETFL = 4;
  public static final int O_NONBLOCK = 0x800;
  public static final int EFD_CLOEXEC = 0x80000;
  public static final int EFD_NONBLOCK = 0x800;

  public static final int RTLD_LAZY = 1;

  public static final int AF_INET = 2;
  public static final int AF_INET6 = 10;

  private PosixConstants() {}
}
