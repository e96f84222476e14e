package dev.verbatim.transport;

import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a thread on the processors of the device's NUMA node, so that what it polls need not cross
 * to another one. On all of them, not on one that others may want; never on one that the process
 * may not use. Where there is no node, or too few of its processors may be used, nothing changes.
 */
public final class NodeAffinity {
  /** With a single processor the thread would wait for whatever else runs there. */
  private static final int LEAST_PROCESSORS = 2;

  static final Path NODES = Path.of("/sys/devices/system/node");

  /** The kernel has 8192 processors at most, and 1024 nodes. */
  static final int MASK_BYTES = 1024;

  private static final Logger LOG = LoggerFactory.getLogger(NodeAffinity.class);

  private final Posix posix;
  private final Path nodes;
  private final int leastProcessors;

  NodeAffinity(Posix posix) {
    this(posix, NODES, LEAST_PROCESSORS);
  }

  /**
   * @param nodes folder of the kernel's NUMA nodes
   */
  NodeAffinity(Posix posix, Path nodes, int leastProcessors) {
    this.posix = posix;
    this.nodes = nodes;
    this.leastProcessors = leastProcessors;
  }

  /**
   * Keeps the calling thread on a node. Never fails: it is a matter of speed alone.
   *
   * @param node -1 for none
   */
  void apply(int node) {
    if (node < 0) {
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
      posix.getAffinity(mask);
      BitSet allowed = BitSet.valueOf(mask.toArray(ValueLayout.JAVA_LONG));
      BitSet wanted = processors(Files.readString(nodes.resolve("node" + node + "/cpulist")));
      wanted.and(allowed);
      if (wanted.cardinality() < leastProcessors || wanted.equals(allowed)) {
        return;
      }
      mask.fill((byte) 0).copyFrom(MemorySegment.ofArray(wanted.toLongArray()));
      posix.setAffinity(mask);
      LOG.debug("{} stays on the processors {}", Thread.currentThread().getName(), wanted);
    } catch (VerbsException | IOException | NumberFormatException e) {
      LOG.debug("Not kept on NUMA node {}: {}", node, e.toString());
    }
  }

  /** The numbers, of nodes too, in a list of the kernel's, such as {@code 0-3,8,10-11}. */
  public static BitSet processors(String list) {
    BitSet numbers = new BitSet();
    for (String range : list.trim().split(",")) {
      if (!range.isEmpty()) { // a node of memory alone
        String[] ends = range.split("-");
        numbers.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
      }
    }
    return numbers;
  }
}
