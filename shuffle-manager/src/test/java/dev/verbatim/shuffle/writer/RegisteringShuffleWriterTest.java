package dev.verbatim.shuffle.writer;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.metrics.ShuffleCounters;
import java.nio.file.Path;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriter;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;
import scala.Option;

/** What the publisher is told of a map task's begin and end, in whatever way it ends. */
class RegisteringShuffleWriterTest {
  @SuppressWarnings("unchecked")
  private final ShuffleWriter<Object, Object> stock = mock(ShuffleWriter.class);

  private final OutputRegistrar registrar = mock(OutputRegistrar.class);
  private final MapOutputFiles files = new MapOutputFiles(5, 1, Path.of("data"), Path.of("index"));
  private final TaskContextImpl task = TaskContext$.MODULE$.empty();
  private final RegisteringShuffleWriter<Object, Object> writer =
      new RegisteringShuffleWriter<>(stock, registrar, new ShuffleCounters(), 5, task, () -> files);

  @Test
  void shouldTellTheEndAfterTheFilesWhenTheTaskSucceeds() {
    MapStatus status = mock(MapStatus.class);
    when(stock.stop(true)).thenReturn(Option.apply(status));

    writer.stop(true);
    task.markTaskCompleted(Option.empty());

    InOrder order = inOrder(registrar);
    order.verify(registrar).mapTaskBegins(5);
    order.verify(registrar).submit(any(), any());
    order.verify(registrar).mapTaskEnds(5);
  }

  /** As {@code ShuffleWriteProcessor} does: it stops the writer after an Exception alone. */
  @Test
  void shouldTellTheEndWhenAnErrorEndsTheTask() throws Exception {
    Error error = new OutOfMemoryError("as SparkOutOfMemoryError is one");
    doThrow(error).when(stock).write(any());

    assertSame(error, assertThrows(Error.class, () -> writer.write(null)));
    verify(registrar, never()).mapTaskEnds(5);
    task.markTaskCompleted(Option.apply(error));

    verify(registrar, times(1)).mapTaskEnds(5);
  }

  @Test
  void shouldTellTheEndOnceWhenTheTaskFailsAndSparkStopsItAgain() {
    RuntimeException failure = new IllegalStateException("disk full");
    when(stock.stop(anyBoolean())).thenThrow(failure);

    assertThrows(IllegalStateException.class, () -> writer.stop(true));
    assertThrows(IllegalStateException.class, () -> writer.stop(false));
    task.markTaskCompleted(Option.apply(failure));

    verify(registrar, times(1)).mapTaskEnds(5);
  }
}
