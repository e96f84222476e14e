package dev.verbatim.bench.registry;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcTimeout;
import scala.concurrent.duration.FiniteDuration;
import scala.jdk.javaapi.FutureConverters;
import scala.reflect.ClassTag$;

/** Questions to a driver over Spark's RPC, a few at a time. */
final class Asks {
  private static final int AT_ONCE = 32;
  private static final RpcTimeout TIMEOUT =
      new RpcTimeout(new FiniteDuration(5, TimeUnit.MINUTES), "bench");

  private final Semaphore room = new Semaphore(AT_ONCE);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  /** Asks as soon as there is room. */
  <T> void ask(RpcEndpointRef driver, Object question, Class<T> type, Consumer<T> answered)
      throws InterruptedException {
    room.acquire();
    FutureConverters.asJava(driver.<T>ask(question, TIMEOUT, ClassTag$.MODULE$.apply(type)))
        .whenComplete(
            (answer, error) -> {
              try {
                if (error != null) {
                  throw error;
                }
                answered.accept(answer);
              } catch (Throwable e) {
                failure.compareAndSet(null, e);
              } finally {
                room.release();
              }
            });
  }

  /** Waits for all answers; fails if one has failed, or could not be taken. */
  void await() throws InterruptedException {
    room.acquire(AT_ONCE);
    room.release(AT_ONCE);
    if (failure.get() != null) {
      throw new IllegalStateException(failure.get());
    }
  }
}
