package dev.verbatim.transport;

/** An established way to one peer: one or several queue pairs. */
public final class PeerConnection {

  public PeerAddress peer() {
    throw new UnsupportedOperationException();
  }

  /** Whether READs may still be posted. */
  public boolean isOpen() {
    throw new UnsupportedOperationException();
  }

  /**
   * Posts the batch and returns; the batch's listener is told the end exactly once, also when the
   * connection is down already.
   */
  public void read(ReadBatch batch) {
    throw new UnsupportedOperationException();
  }
}
