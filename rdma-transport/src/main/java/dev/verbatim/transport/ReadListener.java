package dev.verbatim.transport;

/** Told once how a batch of READs ended, on the completion poller's thread: it must not block. */
public interface ReadListener {
  /** All bytes are in their buffers. */
  void onSuccess();

  /** Not all bytes arrived; none of the batch's bytes may be used. */
  void onFailure(ReadFailure failure);
}
