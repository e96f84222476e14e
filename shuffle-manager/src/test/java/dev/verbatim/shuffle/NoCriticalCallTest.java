package dev.verbatim.shuffle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.transport.RdmaTransport;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.foreign.Linker;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Some JDKs move heap memory under a native call that was given it by {@link
 * Linker.Option#critical}, and no call of the device may hold up a safepoint: it is not used.
 */
class NoCriticalCallTest {
  private static final String OPTIONS = "java/lang/foreign/Linker$Option";

  @Test
  void shouldMakeNoCriticalCallWhenItCallsNativeFunctions() throws Exception {
    List<String> options = new ArrayList<>();
    for (Class<?> module : List.of(RdmaTransport.class, RdmaShuffleManager.class)) {
      URI place = module.getProtectionDomain().getCodeSource().getLocation().toURI();
      if (Files.isDirectory(Path.of(place))) {
        scan(Path.of(place), options);
      } else {
        try (FileSystem jar = FileSystems.newFileSystem(Path.of(place))) {
          scan(jar.getPath("/"), options);
        }
      }
    }
    assertTrue(options.contains("captureCallState"), () -> "all options are seen: " + options);
    assertEquals(List.of(), options.stream().filter("critical"::equals).toList());
  }

  /** Adds the names of all linker options that the classes in a folder ask for. */
  private static void scan(Path folder, List<String> options) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
        for (MethodModel method : ClassFile.of().parse(Files.readAllBytes(file)).methods()) {
          method.code().ifPresent(code -> code.forEach(element -> note(element, options)));
        }
      }
    }
  }

  private static void note(CodeElement element, List<String> options) {
    if (element instanceof InvokeInstruction call
        && call.owner().asInternalName().equals(OPTIONS)) {
      options.add(call.name().stringValue());
    }
  }
}
