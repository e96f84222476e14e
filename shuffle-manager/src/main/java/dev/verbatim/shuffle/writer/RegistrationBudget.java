package dev.verbatim.shuffle.writer;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes that map outputs of this executor may pin. Thread-safe. */
public final class RegistrationBudget {
  private final long limit;
  private final AtomicLong used = new AtomicLong();

  public RegistrationBudget(long limit) {
    this.limit = limit;
  }

  /**
   * Takes {@code most} bytes, or all that are left if they are {@code least} or more.
   *
   * @return bytes taken; 0 when less than {@code least} are left
   */
  long take(long least, long most) {
    while (true) {
      long before = used.get();
      long taken = Math.min(most, limit - before);
      if (taken < least) {
        return 0;
      }
      if (used.compareAndSet(before, before + taken)) {
        return taken;
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
