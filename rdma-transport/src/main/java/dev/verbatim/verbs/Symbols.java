package dev.verbatim.verbs;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** The functions of one library. */
final class Symbols {
  private final SymbolLookup lookup;

  Symbols(SymbolLookup lookup) {
    this.lookup = lookup;
  }

  /** A handle that captures errno into its first argument. */
  MethodHandle bind(String function, FunctionDescriptor descriptor, Linker.Option... options)
      throws MissingFunction {
    MemorySegment address = lookup.find(function).orElseThrow(() -> new MissingFunction(function));
    return NativeCall.bind(address, descriptor, options);
  }

  /** As {@link #bind}, for a function that older libraries do not have. */
  Optional<MethodHandle> bindOptional(String function, FunctionDescriptor descriptor) {
    return lookup.find(function).map(address -> NativeCall.bind(address, descriptor));
  }

  /** The library lacks a function. */
  static final class MissingFunction extends Exception {
    private static final long serialVersionUID = 1L;

    MissingFunction(String function) {
      super("no function " + function);
    }
  }
}
