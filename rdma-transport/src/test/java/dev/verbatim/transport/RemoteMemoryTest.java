package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class RemoteMemoryTest {
  private static final RemoteMemory MEMORY = new RemoteMemory(-4096, 0x8000_0001, 1L << 40);

  @Test
  void shouldBeTheSameWhenItHasTravelled() {
    ByteBuffer wire = MEMORY.put(ByteBuffer.allocate(100));
    assertEquals(RemoteMemory.BYTES, wire.position());
    assertEquals(MEMORY, RemoteMemory.get(wire.flip()));
    assertThrows(BufferUnderflowException.class, () -> RemoteMemory.get(ByteBuffer.allocate(19)));
    ByteBuffer negative = ByteBuffer.allocate(20).putLong(12, -1);
    assertThrows(IllegalArgumentException.class, () -> RemoteMemory.get(negative));
  }

  /** Native order is what programs set for numbers of their own in the same buffer. */
  @Test
  void shouldTravelBetweenBuffersOfAnyOrder() {
    ByteBuffer wire = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN);
    assertEquals(ByteOrder.LITTLE_ENDIAN, MEMORY.put(wire).order());
    assertEquals(MEMORY, RemoteMemory.get(ByteBuffer.wrap(wire.array())));
    assertEquals(MEMORY, RemoteMemory.get(wire.flip()));
  }

  @Test
  void shouldCutPartsThatAreInside() {
    assertEquals(new RemoteMemory(-4000, MEMORY.rkey(), 100), MEMORY.slice(96, 100));
    assertEquals(0, MEMORY.slice(1L << 40, 0).length());
    for (long[] part :
        new long[][] {{-1, 1}, {0, -1}, {0, (1L << 40) + 1}, {1L << 40, 1}, {Long.MAX_VALUE, 1}}) {
      assertThrows(IndexOutOfBoundsException.class, () -> MEMORY.slice(part[0], part[1]));
    }
  }

  /** Both permit access. */
  @Test
  void shouldNotPrintAddressAndKey() {
    assertEquals("1099511627776 bytes of the peer", MEMORY.toString());
    assertFalse(MEMORY.toString().contains("4096"));
  }
}
