package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.NativeLibraries;
import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeAffinityTest {
  @TempDir Path nodes;

  private void node(int number, String processors) throws Exception {
    Path folder = Files.createDirectories(nodes.resolve("node" + number));
    Files.writeString(folder.resolve("cpulist"), processors + "\n");
  }

  /** Two sockets with hyper-threads, as the kernel lists them. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0-15,32-47 | 0-63 | 0-15,32-47",
        "16-31,48-63 | 0-63 | 16-31,48-63",
        "0-15,32-47 | 8-23 | 8-15",
        "0-15 | 15-40 | unchanged",
        "0-15 | 16-31 | unchanged",
        "0-63 | 8-23 | unchanged",
        "'' | 0-63 | unchanged",
        "nonsense | 0-63 | unchanged",
        "100-8191 | 0-8191 | 100-8191"
      })
  void shouldStayOnTheNodesProcessorsThatTheProcessMayUse(
      String ofNode, String allowed, String expected) throws Exception {
    node(1, ofNode);
    Kernel kernel = new Kernel(allowed);

    new NodeAffinity(kernel.posix, nodes, 2).apply(1);
    if (expected.equals("unchanged")) {
      assertNull(kernel.set);
    } else {
      assertEquals(NodeAffinity.processors(expected), kernel.set);
    }
  }

  @Test
  void shouldChangeNothingWhenTheDeviceHasNoNode() throws Exception {
    node(0, "0-3");
    Kernel kernel = new Kernel("0-7");
    NodeAffinity affinity = new NodeAffinity(kernel.posix, nodes, 2);
    affinity.apply(-1);
    affinity.apply(7);
    assertNull(kernel.set);
  }

  @Test
  void shouldGoOnWhenTheKernelRefuses() throws Exception {
    node(0, "0-3");
    Kernel kernel = new Kernel("0-7");
    doThrow(new VerbsException("sched_setaffinity", Errno.EPERM, ""))
        .when(kernel.posix)
        .setAffinity(any());
    new NodeAffinity(kernel.posix, nodes, 2).apply(0);
  }

  private static final class Kernel {
    final Posix posix = mock(Posix.class);
    BitSet set;

    Kernel(String allowed) throws VerbsException {
      long[] bits = NodeAffinity.processors(allowed).toLongArray();
      doAnswer(call -> call.<MemorySegment>getArgument(0).copyFrom(MemorySegment.ofArray(bits)))
          .when(posix)
          .getAffinity(any());
      doAnswer(
              call -> {
                MemorySegment mask = call.getArgument(0);
                set = BitSet.valueOf(mask.toArray(ValueLayout.JAVA_LONG));
                return null;
              })
          .when(posix)
          .setAffinity(any());
    }
  }

  /** On this machine: the thread that asks is moved, and no other. */
  @Test
  void shouldMoveTheCallingThreadAlone() throws Exception {
    NativeLibraries.Loaded libraries =
        NativeLibraries.load() instanceof NativeLibraries.Loaded loaded ? loaded : null;
    assumeTrue(libraries != null, "needs the native libraries");
    String own = allowed();
    BitSet processors = NodeAffinity.processors(own);
    assumeTrue(processors.cardinality() > 1, "needs a processor to leave out");
    int last = processors.length() - 1;
    node(0, Integer.toString(last));
    CompletableFuture<String> moved = new CompletableFuture<>();
    Thread.ofPlatform()
        .start(
            () -> {
              new NodeAffinity(libraries.posix(), nodes, 1).apply(0);
              moved.complete(allowed());
            });
    assertEquals(Integer.toString(last), moved.get());
    assertEquals(own, allowed());
    assertNotEquals(own, moved.get());
  }

  private static String allowed() {
    try {
      return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
          .filter(line -> line.startsWith("Cpus_allowed_list:"))
          .map(line -> line.replaceAll(".*:\\s*", ""))
          .findFirst()
          .orElseThrow();
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
