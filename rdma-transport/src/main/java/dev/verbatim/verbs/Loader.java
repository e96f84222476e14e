package dev.verbatim.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.verbatim.verbs.NativeLibraries.Absent;
import dev.verbatim.verbs.NativeLibraries.Loaded;
import dev.verbatim.verbs.Symbols.MissingFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** Finds the libraries by the dynamic loader's own search, so that LD_LIBRARY_PATH works. */
final class Loader {
  static final String VERBS = "libibverbs.so.1";
  static final String RDMA_CM = "librdmacm.so.1";

  private static final String INSTALL =
      "install rdma-core's libraries: Debian, Ubuntu: apt-get install libibverbs1"
          + " ibverbs-providers librdmacm1; RHEL, Rocky, Fedora: dnf install libibverbs librdmacm;"
          + " SUSE: zypper install libibverbs libibverbs1 librdmacm1";
  private static final String UPDATE = "update rdma-core to version 25 or newer";
  private static final String PERMIT =
      "start the JVM with --enable-native-access=ALL-UNNAMED, or without"
          + " --illegal-native-access=deny";

  private Loader() {}

  /** Loaded at the first use; never unloaded, as drivers keep threads and pointers. */
  private static final class Once {
    static final NativeLibraries RESULT = load(VERBS, RDMA_CM);
  }

  static NativeLibraries result() {
    return Once.RESULT;
  }

  static NativeLibraries load(String verbsName, String rdmaCmName) {
    String library = verbsName;
    try {
      SymbolLookup verbsLibrary = SymbolLookup.libraryLookup(verbsName, Arena.global());
      library = rdmaCmName;
      SymbolLookup rdmaCmLibrary = SymbolLookup.libraryLookup(rdmaCmName, Arena.global());
      library = verbsName;
      Verbs verbs = new FfmVerbs(new Symbols(verbsLibrary));
      library = rdmaCmName;
      RdmaCm rdmaCm = new FfmRdmaCm(new Symbols(rdmaCmLibrary));
      library = "libc";
      Posix posix = new FfmPosix(new Symbols(Linker.nativeLinker().defaultLookup()));
      return new Loaded(verbs, rdmaCm, posix);
    } catch (MissingFunction e) {
      return new Absent(library, e.getMessage(), UPDATE);
    } catch (IllegalCallerException e) {
      return new Absent(library, String.valueOf(e.getMessage()), PERMIT);
    } catch (IllegalArgumentException e) {
      return new Absent(library, reason(library, e), INSTALL);
    } catch (UnsupportedOperationException | LinkageError e) {
      return new Absent(library, e.toString(), "use a 64-bit Linux on x86-64 or aarch64");
    }
  }

  /**
   * Java does not pass on why a library could not be opened; the loader says it when asked again.
   */
  private static String reason(String library, IllegalArgumentException thrown) {
    SymbolLookup libc = Linker.nativeLinker().defaultLookup();
    if (libc.find("dlopen").isEmpty() || libc.find("dlerror").isEmpty()) {
      return String.valueOf(thrown.getMessage());
    }
    MethodHandle dlopen =
        NativeCall.bind(
            libc.find("dlopen").get(), FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT));
    MethodHandle dlerror =
        NativeCall.bind(libc.find("dlerror").get(), FunctionDescriptor.of(ADDRESS));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(library);
      MemorySegment handle =
          NativeCall.plain(
              errno -> (MemorySegment) dlopen.invokeExact(errno, name, PosixConstants.RTLD_LAZY));
      MemorySegment message = NativeCall.plain(errno -> (MemorySegment) dlerror.invokeExact(errno));
      return handle.address() != 0 || message.address() == 0
          ? String.valueOf(thrown.getMessage())
          : message.reinterpret(Long.MAX_VALUE).getString(0);
    }
  }
}
