package dev.verbatim.verbs;

/** Loads {@code libibverbs.so.1} and {@code librdmacm.so.1}; that they are absent is an answer. */
public sealed interface NativeLibraries {

  /** Both libraries, with every function that is needed. */
  record Loaded(Verbs verbs, RdmaCm rdmaCm, Posix posix) implements NativeLibraries {}

  /**
   * A library, or a function of it, is absent or cannot be used.
   *
   * @param library soname, for example {@code libibverbs.so.1}
   * @param seen what the loader said
   * @param remedy what to install
   */
  record Absent(String library, String seen, String remedy) implements NativeLibraries {}

  /** Loads the libraries once per process; later calls give the same answer. Never throws. */
  static NativeLibraries load() {
    return Loader.result();
  }
}
