package dev.verbatim.shuffle.reader;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Something that an executor is to do, and what is done instead, here and now, where it has no
 * thread for it. One of the two, once: a pool may have queued what it then throws for. Made before
 * it is needed: handing over takes no memory of its own.
 */
final class HandOver implements Runnable {
  private final Runnable action;
  private final Consumer<Throwable> refused;
  private final AtomicBoolean begun = new AtomicBoolean();

  /**
   * @param refused is given what the executor has thrown
   */
  HandOver(Runnable action, Consumer<Throwable> refused) {
    this.action = action;
    this.refused = refused;
  }

  void to(Executor executor) {
    try {
      executor.execute(this);
    } catch (RuntimeException | Error e) {
      if (begun.compareAndSet(false, true)) {
        refused.accept(e);
      }
    }
  }

  @Override
  public void run() {
    if (begun.compareAndSet(false, true)) {
      action.run();
    }
  }
}
