package dev.verbatim.verbs;

import java.util.Map;

/** Error numbers of Linux that the verbs report, {@code errno(3)}. */
public final class Errno {
  public static final int EPERM = 1;
  public static final int ENOENT = 2;
  public static final int EINTR = 4;
  public static final int EIO = 5;
  public static final int EBADF = 9;
  public static final int EAGAIN = 11;
  public static final int ENOMEM = 12;
  public static final int EACCES = 13;
  public static final int EFAULT = 14;
  public static final int EBUSY = 16;
  public static final int EEXIST = 17;
  public static final int ENODEV = 19;
  public static final int EINVAL = 22;
  public static final int ENFILE = 23;
  public static final int EMFILE = 24;
  public static final int ENOSPC = 28;
  public static final int ENOSYS = 38;
  public static final int ENODATA = 61;
  public static final int EPROTO = 71;
  public static final int EOPNOTSUPP = 95;
  public static final int EAFNOSUPPORT = 97;
  public static final int EADDRINUSE = 98;
  public static final int EADDRNOTAVAIL = 99;
  public static final int ENETDOWN = 100;
  public static final int ENETUNREACH = 101;
  public static final int ECONNRESET = 104;
  public static final int ENOBUFS = 105;
  public static final int EISCONN = 106;
  public static final int ENOTCONN = 107;
  public static final int ETIMEDOUT = 110;
  public static final int ECONNREFUSED = 111;
  public static final int EHOSTDOWN = 112;
  public static final int EHOSTUNREACH = 113;

  private static final Map<Integer, String> NAMES =
      Map.ofEntries(
          Map.entry(EPERM, "EPERM"),
          Map.entry(ENOENT, "ENOENT"),
          Map.entry(EINTR, "EINTR"),
          Map.entry(EIO, "EIO"),
          Map.entry(EBADF, "EBADF"),
          Map.entry(EAGAIN, "EAGAIN"),
          Map.entry(ENOMEM, "ENOMEM"),
          Map.entry(EACCES, "EACCES"),
          Map.entry(EFAULT, "EFAULT"),
          Map.entry(EBUSY, "EBUSY"),
          Map.entry(EEXIST, "EEXIST"),
          Map.entry(ENODEV, "ENODEV"),
          Map.entry(EINVAL, "EINVAL"),
          Map.entry(ENFILE, "ENFILE"),
          Map.entry(EMFILE, "EMFILE"),
          Map.entry(ENOSPC, "ENOSPC"),
          Map.entry(ENOSYS, "ENOSYS"),
          Map.entry(ENODATA, "ENODATA"),
          Map.entry(EPROTO, "EPROTO"),
          Map.entry(EOPNOTSUPP, "EOPNOTSUPP"),
          Map.entry(EAFNOSUPPORT, "EAFNOSUPPORT"),
          Map.entry(EADDRINUSE, "EADDRINUSE"),
          Map.entry(EADDRNOTAVAIL, "EADDRNOTAVAIL"),
          Map.entry(ENETDOWN, "ENETDOWN"),
          Map.entry(ENETUNREACH, "ENETUNREACH"),
          Map.entry(ECONNRESET, "ECONNRESET"),
          Map.entry(ENOBUFS, "ENOBUFS"),
          Map.entry(EISCONN, "EISCONN"),
          Map.entry(ENOTCONN, "ENOTCONN"),
          Map.entry(ETIMEDOUT, "ETIMEDOUT"),
          Map.entry(ECONNREFUSED, "ECONNREFUSED"),
          Map.entry(EHOSTDOWN, "EHOSTDOWN"),
          Map.entry(EHOSTUNREACH, "EHOSTUNREACH"));

  private Errno() {}

  /** The name of a number, for example {@code ENOMEM}; {@code unnamed error} for others. */
  public static String name(int errno) {
    return NAMES.getOrDefault(errno, "unnamed error");
  }
}
