package dev.verbatim.verbs;

/** Numbers of system calls that the C library has no function for, for {@code syscall(2)}. */
enum Syscalls {
  X86_64(237, 239),

  /** What newer architectures share, aarch64 among them. */
  GENERIC(235, 236);

  final long mbind;
  final long getMempolicy;

  Syscalls(long mbind, long getMempolicy) {
    this.mbind = mbind;
    this.getMempolicy = getMempolicy;
  }

  static Syscalls ofThisHost() {
    return System.getProperty("os.arch").equals("amd64") ? X86_64 : GENERIC;
  }
}
