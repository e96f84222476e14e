package dev.verbatim.transport;

import java.nio.ByteBuffer;

/**
 * A range of a peer's memory, as the peer has told it: by private data of the connection, by a
 * message, or by other means. Whoever knows it and has a connection to the protection domain may do
 * what the peer's {@link MemoryAccess} allows; so it is a secret.
 *
 * @param address of the first byte, as the peer's device names it
 * @param rkey the peer's key
 * @param length bytes, from 0
 */
public record RemoteMemory(long address, int rkey, long length) {
  /** Length of what {@link #put} writes, bytes. */
  public static final int BYTES = 20;

  public RemoteMemory {
    if (length < 0) {
      throw new IllegalArgumentException("length = " + length + " is out of range: from 0");
    }
  }

  /**
   * A part of it.
   *
   * @throws IndexOutOfBoundsException when the part is not inside
   */
  public RemoteMemory slice(long offset, long bytes) {
    if (offset < 0 || bytes < 0 || bytes > length || offset > length - bytes) {
      throw new IndexOutOfBoundsException(
          "%d bytes from %d are not inside %d bytes of the peer".formatted(bytes, offset, length));
    }
    return new RemoteMemory(address + offset, rkey, bytes);
  }

  /**
   * Writes the {@link #BYTES} that {@link #get} reads, the same ones whatever the buffer's order.
   *
   * @return the buffer, its position behind them
   * @throws java.nio.BufferOverflowException when there is room for fewer
   */
  public ByteBuffer put(ByteBuffer into) {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES);
    return into.put(bytes.putLong(address).putInt(rkey).putLong(length).flip());
  }

  /**
   * Reads what {@link #put} has written.
   *
   * @throws IllegalArgumentException when the length is negative
   * @throws java.nio.BufferUnderflowException when there are fewer bytes
   */
  public static RemoteMemory get(ByteBuffer from) {
    byte[] bytes = new byte[BYTES];
    from.get(bytes);
    ByteBuffer in = ByteBuffer.wrap(bytes);
    return new RemoteMemory(in.getLong(), in.getInt(), in.getLong());
  }

  /** Without address and key, which are secret. */
  @Override
  public String toString() {
    return length + " bytes of the peer";
  }
}
