package dev.verbatim.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.verbs.NativeLibraries.Absent;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class NativeLibrariesTest {

  @Test
  void shouldAnswerAbsentWithPackagesWhenVerbsLibraryIsNotThere() {
    Absent absent =
        assertInstanceOf(Absent.class, Loader.load("libibverbs-not-there.so.1", Loader.RDMA_CM));

    assertEquals("libibverbs-not-there.so.1", absent.library());
    assertTrue(absent.seen().contains("No such file or directory"), absent.seen());
    assertTrue(
        absent.remedy().contains("apt-get install libibverbs1 ibverbs-providers librdmacm1"));
    assertTrue(absent.remedy().contains("dnf install libibverbs librdmacm"));
    assertTrue(absent.remedy().contains("zypper install"));
  }

  @Test
  void shouldNameRdmaCmLibraryWhenOnlyThatIsNotThere() {
    // Any library will do in place of the first one: it is only opened.
    Absent absent = assertInstanceOf(Absent.class, Loader.load("libm.so.6", "librdmacm-gone.so.1"));

    assertEquals("librdmacm-gone.so.1", absent.library());
  }

  @Test
  void shouldNameFunctionWhenLibraryLacksIt() {
    Absent absent = assertInstanceOf(Absent.class, Loader.load("libm.so.6", "libm.so.6"));

    assertEquals("libm.so.6", absent.library());
    assertEquals("no function ibv_get_device_list", absent.seen());
    assertTrue(absent.remedy().contains("rdma-core"), absent.remedy());
  }

  @Test
  void shouldAnswerAbsentWithFlagWhenJvmForbidsNativeAccess() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Process process =
        new ProcessBuilder(
                java,
                "--illegal-native-access=deny",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classes(NativeLibraries.class) + ":" + classes(NativeLibrariesTest.class),
                PrintLibraries.class.getName())
            .redirectErrorStream(true)
            .start();
    String output;
    try (InputStream stream = process.getInputStream()) {
      output = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
    assertEquals(0, process.waitFor(), output);
    assertTrue(output.startsWith("Absent[library=libibverbs.so.1"), output);
    assertTrue(output.contains("--enable-native-access=ALL-UNNAMED"), output);
  }

  private static Path classes(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  /** What the forked JVM runs. */
  static final class PrintLibraries {
    public static void main(String[] arguments) {
      System.out.println(NativeLibraries.load());
    }
  }

  @Test
  void shouldAnswerTheSameWhenLoadedTwice() {
    assertSame(NativeLibraries.load(), NativeLibraries.load());
  }
}
