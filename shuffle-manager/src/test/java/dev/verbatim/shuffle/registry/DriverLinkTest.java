package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

import dev.verbatim.shuffle.metrics.CounterSnapshot;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.spark.rpc.RpcEndpointRef;
import org.junit.jupiter.api.Test;

/** Errors, memory that is used up above all, under a message to the driver. */
class DriverLinkTest {
  /** Not an OutOfMemoryError, which JUnit takes for its own. */
  private static final Error ERROR = new InternalError("test");

  private final RpcEndpointRef driver = mock(RpcEndpointRef.class);
  private final DriverLink link = new DriverLink(driver, "1", Duration.ofSeconds(1));

  /** It is sent by a listener of a task's end, which the task would fail with. */
  @Test
  void shouldNotThrowWhenCountersCannotBeSent() {
    doThrow(ERROR).when(driver).send(any());

    assertDoesNotThrow(() -> link.report(CounterSnapshot.ZERO));
  }

  @Test
  void shouldFailAQuestionThatCannotBeAsked() {
    doThrow(ERROR).when(driver).ask(any(), any(), any());

    CompletableFuture<Void> answer = link.announce(null, "", "RDMA off");

    assertSame(ERROR, assertThrows(ExecutionException.class, answer::get).getCause());
  }
}
