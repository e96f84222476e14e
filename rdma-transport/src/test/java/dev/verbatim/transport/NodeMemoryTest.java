package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.IbvMr;
import dev.verbatim.verbs.NativeLibraries;
import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NodeMemoryTest {
  private static final int MPOL_BIND = 2;

  private final Posix posix = mock(Posix.class);
  private final MemorySegment mapping = Arena.ofAuto().allocate(4096, 4096);

  /** What was asked for, one after the other. */
  private final List<String> asked = new ArrayList<>();

  @TempDir Path nodes;

  private NodeMemory onNode(int node, String withMemory) throws Exception {
    Files.writeString(nodes.resolve("has_memory"), withMemory + "\n");
    doAnswer(
            call -> {
              assertEquals(PosixConstants.MPOL_PREFERRED, call.<Integer>getArgument(1));
              return asked.add(numbers(call.getArgument(2)));
            })
        .when(posix)
        .mbind(any(), anyInt(), any());
    return new NodeMemory(posix, nodes, node);
  }

  private static String numbers(MemorySegment mask) {
    return BitSet.valueOf(mask.toArray(ValueLayout.JAVA_LONG)).toString();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | 0-1 | {0}",
        "1 | 0-1 | {1}",
        "63 | 0,63-64 | {63}",
        "64 | 0,63-64 | {64}",
        "-1 | 0-1 | nothing",
        "0 | 0 | nothing",
        "1 | 0 | nothing",
        "2 | 0-1 | nothing",
        "1024 | 0-1 | nothing",
        "0 | '' | nothing",
        "0 | nonsense | nothing"
      })
  void shouldAskForTheNodesMemoryWhereThereIsAChoice(int node, String withMemory, String expected)
      throws Exception {
    onNode(node, withMemory).prefer(mapping);

    assertEquals(expected.equals("nothing") ? List.of() : List.of(expected), asked);
  }

  @Test
  void shouldAskForNothingWhenTheKernelListsNoNodes() throws Exception {
    new NodeMemory(posix, nodes.resolve("none"), 0).prefer(mapping);
    assertEquals(List.of(), asked);
  }

  /** As by {@code numactl --membind}: somebody has chosen already. */
  @Test
  void shouldLeaveAProcessAloneThatHasAPolicy() throws Exception {
    when(posix.getMempolicy(any(), any(), anyInt())).thenReturn(MPOL_BIND);
    onNode(0, "0-1").prefer(mapping);
    assertEquals(List.of(), asked);
  }

  @Test
  void shouldGoOnWhenThePolicyCannotBeAsked() throws Exception {
    when(posix.getMempolicy(any(), any(), anyInt()))
        .thenThrow(new VerbsException("get_mempolicy", Errno.EPERM, ""));
    onNode(0, "0-1").prefer(mapping);
    assertEquals(List.of(), asked);
  }

  @ParameterizedTest
  @ValueSource(ints = {Errno.EPERM, Errno.ENOSYS, Errno.EINVAL})
  void shouldUseMemoryAsItIsAndAskOnceWhenTheKernelRefuses(int errno) throws Exception {
    NodeMemory memory = onNode(0, "0-1");
    doThrow(new VerbsException("mbind", errno, "")).when(posix).mbind(any(), anyInt(), any());

    memory.prefer(mapping);
    memory.prefer(mapping);

    verify(posix, times(1)).mbind(any(), anyInt(), any());
  }

  /** By the kernel of this machine, whatever nodes it has. */
  @Test
  void shouldMakeSlabsWhosePolicyPrefersTheNode() throws Exception {
    NativeLibraries.Loaded libraries =
        NativeLibraries.load() instanceof NativeLibraries.Loaded loaded ? loaded : null;
    assumeTrue(libraries != null, "needs the native libraries");
    Posix real = libraries.posix();
    assumeTrue(hasPolicies(real), "needs a kernel with memory policies, and leave to use them");
    Files.writeString(nodes.resolve("has_memory"), "0-1\n");

    assertEquals("1 {0}", policyOfASlab(real, new NodeMemory(real, nodes, 0)));
    assertEquals("0 {}", policyOfASlab(real, new NodeMemory(real, nodes, -1)));
  }

  private static boolean hasPolicies(Posix posix) {
    try {
      return posix.getMempolicy(MemorySegment.NULL, MemorySegment.NULL, 0)
          == PosixConstants.MPOL_DEFAULT;
    } catch (VerbsException e) {
      return false;
    }
  }

  /** Mode and nodes when its pages are registered, that is touched. */
  private static String policyOfASlab(Posix real, NodeMemory node) throws Exception {
    List<String> policies = new ArrayList<>();
    Verbs verbs = mock(Verbs.class);
    when(verbs.regMr(any(), any(), anyLong(), anyInt()))
        .thenAnswer(
            call -> {
              policies.add(policy(real, call.getArgument(1)));
              return IbvMr.STRUCT.allocate(Arena.ofAuto());
            });
    Counters counters = new Counters();
    Registrar registrar =
        new Registrar(
            verbs,
            MemorySegment.NULL,
            new RegistrationRules(VerbsConstants.IBV_ACCESS_LOCAL_WRITE, true),
            -1,
            new Memlock(real),
            counters,
            () -> false);
    Mappings mappings = new Mappings(real, MapRoom.ofThisProcess(real), counters);
    new MemoryManager(mappings, registrar, true, node).slab(16 * Pages.size()).close();
    return policies.getFirst();
  }

  private static String policy(Posix real, MemorySegment memory) throws VerbsException {
    MemorySegment mask = Arena.ofAuto().allocate(NodeAffinity.MASK_BYTES, Long.BYTES);
    int mode = real.getMempolicy(mask, memory, PosixConstants.MPOL_F_ADDR);
    return mode + " " + numbers(mask);
  }
}
