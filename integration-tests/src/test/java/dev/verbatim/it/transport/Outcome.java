package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Waits for the end of a batch, and notices a second one. */
class Outcome implements ReadListener {
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicInteger ends = new AtomicInteger();
  private volatile ReadFailure failure;

  @Override
  public void onSuccess() {
    end();
  }

  @Override
  public void onFailure(ReadFailure failure) {
    this.failure = failure;
    end();
  }

  private void end() {
    ends.incrementAndGet();
    ended.countDown();
  }

  private void await() throws InterruptedException {
    assertTrue(ended.await(Transports.PATIENCE.toSeconds(), TimeUnit.SECONDS), "batch never ended");
    assertEquals(1, ends.get(), "ends told");
  }

  /** Waits for the end; null when the batch succeeded. */
  ReadFailure awaitEnd() throws InterruptedException {
    await();
    return failure;
  }

  void assertSucceeded() throws InterruptedException {
    await();
    assertNull(failure);
  }

  ReadFailure assertFailed() throws InterruptedException {
    await();
    assertNotNull(failure, "the batch succeeded");
    return failure;
  }

  ReadFailure assertFailed(ReadFailure.Kind kind) throws InterruptedException {
    ReadFailure seen = assertFailed();
    assertEquals(kind, seen.kind(), seen.detail());
    return seen;
  }

  /** Null while the batch has not failed. */
  ReadFailure failure() {
    return failure;
  }

  boolean hasEnded() {
    return ended.getCount() == 0;
  }
}
