package dev.verbatim.transport;

/**
 * READs that are posted together and end together. Filled by one thread, then given to {@link
 * PeerConnection#read}. Holds a reference to each buffer until it has ended.
 */
public final class ReadBatch {

  public ReadBatch(ReadListener listener) {
    throw new UnsupportedOperationException();
  }

  /**
   * Adds one READ; the transport splits it where the port's maximal message size demands.
   *
   * @param iova the peer's address of the first byte
   * @param rkey the peer's key
   * @param buffer where the bytes go
   * @param offset of the first byte in the buffer
   * @param length bytes, from 1
   */
  public ReadBatch add(long iova, int rkey, ReadBuffer buffer, long offset, long length) {
    throw new UnsupportedOperationException();
  }

  /** READs added. */
  public int size() {
    throw new UnsupportedOperationException();
  }

  /** Bytes of all READs added. */
  public long bytes() {
    throw new UnsupportedOperationException();
  }
}
