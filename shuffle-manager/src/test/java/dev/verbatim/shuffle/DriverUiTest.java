package dev.verbatim.shuffle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.metrics.ApplicationView;
import dev.verbatim.shuffle.ui.RdmaStatus;
import dev.verbatim.shuffle.ui.SparkListenerRdmaStatus;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.metrics.MetricsSystem;
import org.apache.spark.scheduler.EventLoggingListener;
import org.apache.spark.scheduler.LiveListenerBus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.junit.jupiter.api.Test;
import scala.Option;

class DriverUiTest {
  private final RdmaStatus status =
      RdmaStatus.of("on", new ApplicationView(Map.of(), Set.of(), 0, 0), Map.of());
  private final List<SparkListenerEvent> written = new CopyOnWriteArrayList<>();

  /** A user's listener may take its time; the bus takes no events while it empties its queues. */
  @Test
  void shouldWriteTheEndWhenSparkStopsItsBusBeforeSlowListenersHaveHeardOfIt() throws Exception {
    LiveListenerBus bus = new LiveListenerBus(new SparkConf(false));
    EventLoggingListener log = mock(EventLoggingListener.class);
    doAnswer(call -> written.add(call.getArgument(0))).when(log).onOtherEvent(any());
    SparkContext context = mock(SparkContext.class);
    when(context.ui()).thenReturn(Option.empty());
    when(context.isEventLogEnabled()).thenReturn(true);
    when(context.eventLogger()).thenReturn(Option.apply(log));
    when(context.listenerBus()).thenReturn(bus);
    CountDownLatch stopping = new CountDownLatch(1);
    SparkListener slow =
        new SparkListener() {
          @Override
          public void onApplicationEnd(SparkListenerApplicationEnd event) {
            try {
              stopping.await();
              Thread.sleep(200);
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }
        };
    bus.addToSharedQueue(slow);
    bus.addToEventLogQueue(log);
    bus.start(context, mock(MetricsSystem.class));
    new DriverUi(() -> status).open(context);
    bus.post(new SparkListenerApplicationEnd(1, Option.empty()));
    stopping.countDown();
    bus.stop();
    assertEquals(
        List.of(
            new SparkListenerRdmaStatus(
                status.application(), List.of(), List.of(), List.of(), List.of())),
        List.copyOf(written));
  }
}
