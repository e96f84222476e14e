package dev.verbatim.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.verbs.NativeLibraries.Absent;
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
  void shouldAnswerTheSameWhenLoadedTwice() {
    assertSame(NativeLibraries.load(), NativeLibraries.load());
  }
}
