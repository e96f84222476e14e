package dev.verbatim.shuffle.writer;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes that map outputs of this executor may pin. Thread-safe. */
public final class RegistrationBudget {
  private final long limit;
  private final AtomicLong used = new AtomicLong();

  public RegistrationBudget(long limit) {
    this.limit = limit;
  }

  boolean tryTake(long bytes) {
    while (true) {
      long before = used.get();
      if (bytes > limit - before) {
        return false;
      }
      if (used.compareAndSet(before, before + bytes)) {
        return true;
      }
    }
  }

  void giveBack(long bytes) {
    used.addAndGet(-bytes);
  }

  /** Bytes taken now. */
  public long used() {
    return used.get();
  }
}
