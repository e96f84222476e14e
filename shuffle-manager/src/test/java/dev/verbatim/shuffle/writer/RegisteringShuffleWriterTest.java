package dev.verbatim.shuffle.writer;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.metrics.ShuffleCounters;
import java.nio.file.Path;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriter;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;
import scala.Option;

/** What the registry is told of a map task's begin and end, in whatever way it ends. */
class RegisteringShuffleWriterTest {
  @SuppressWarnings("unchecked")
  private final ShuffleWriter<Object, Object> stock = mock(ShuffleWriter.class);

  private final OutputRegistrar registrar = mock(OutputRegistrar.class);
  private final MapOutputFiles files = new MapOutputFiles(5, 1, Path.of("data"), Path.of("index"));
  private final RegisteringShuffleWriter<Object, Object> writer =
      new RegisteringShuffleWriter<>(stock, registrar, new ShuffleCounters(), 5, () -> files);

  @Test
  void shouldTellTheEndAfterTheFilesWhenTheTaskSucceeds() {
    MapStatus status = mock(MapStatus.class);
    when(stock.stop(true)).thenReturn(Option.apply(status));

    writer.stop(true);

    InOrder order = inOrder(registrar);
    order.verify(registrar).mapTaskBegins(5);
    order.verify(registrar).submit(any(), any());
    order.verify(registrar).mapTaskEnds(5);
  }

  @Test
  void shouldTellTheEndOnceWhenTheTaskFailsAndSparkStopsItAgain() {
    when(stock.stop(anyBoolean())).thenThrow(new IllegalStateException("disk full"));

    assertThrows(IllegalStateException.class, () -> writer.stop(true));
    assertThrows(IllegalStateException.class, () -> writer.stop(false));

    verify(registrar, times(1)).mapTaskEnds(5);
  }
}
