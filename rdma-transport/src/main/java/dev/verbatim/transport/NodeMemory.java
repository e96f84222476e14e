package dev.verbatim.transport;

import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import dev.verbatim.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has memory come from the device's NUMA node, so that what the device reads and writes need not
 * cross to another one; from others where that node has none left. Nothing changes where there is
 * no such node or no other one, or where the process was given a memory policy, as by {@code
 * numactl --membind}.
 */
final class NodeMemory {
  private static final Logger LOG = LoggerFactory.getLogger(NodeMemory.class);

  private final Posix posix;
  private final int node;
  private volatile boolean on;

  /**
   * @param node -1 for none
   */
  NodeMemory(Posix posix, int node) {
    this(posix, NodeAffinity.NODES, node);
  }

  /**
   * @param nodes folder of the kernel's NUMA nodes
   */
  NodeMemory(Posix posix, Path nodes, int node) {
    this.posix = posix;
    this.node = node;
    this.on = node >= 0 && isChoice(nodes);
  }

  /** Whether there is a choice of nodes, and nobody has made it. */
  private boolean isChoice(Path nodes) {
    try {
      BitSet all = NodeAffinity.processors(Files.readString(nodes.resolve("has_memory")));
      return all.get(node)
          && all.cardinality() > 1
          && posix.getMempolicy(MemorySegment.NULL, MemorySegment.NULL, 0)
              == PosixConstants.MPOL_DEFAULT;
    } catch (VerbsException | IOException | NumberFormatException e) {
      LOG.debug("Memory is not taken from NUMA node {}: {}", node, e.toString());
      return false;
    }
  }

  /**
   * Asks for the node's memory, for pages that nobody has touched yet. Never fails: it is a matter
   * of speed alone. Where it is refused, in a container for example, it is not asked for again.
   */
  void prefer(MemorySegment mapping) {
    if (!on) {
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(NodeAffinity.MASK_BYTES, Long.BYTES);
      BitSet wanted = new BitSet();
      wanted.set(node);
      mask.copyFrom(MemorySegment.ofArray(wanted.toLongArray()));
      posix.mbind(mapping, PosixConstants.MPOL_PREFERRED, mask);
    } catch (VerbsException e) {
      on = false;
      LOG.debug("Memory is not taken from NUMA node {}: {}", node, e.getMessage());
    }
  }
}
