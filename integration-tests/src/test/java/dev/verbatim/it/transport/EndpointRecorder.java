package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.transport.EndpointListener;
import dev.verbatim.transport.RdmaEndpoint;
import dev.verbatim.transport.WorkCompletion;
import dev.verbatim.transport.WorkOperation;
import dev.verbatim.verbs.WcStatus;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Keeps what an endpoint tells until the test asks for it. */
class EndpointRecorder implements EndpointListener {
  private final BlockingQueue<WorkCompletion> completions = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> ends = new LinkedBlockingQueue<>();

  private final Consumer<RdmaEndpoint> prepare;

  EndpointRecorder() {
    this(_ -> {});
  }

  /**
   * @param prepare posts receives before anything can come
   */
  EndpointRecorder(Consumer<RdmaEndpoint> prepare) {
    this.prepare = prepare;
  }

  @Override
  public void onPrepared(RdmaEndpoint endpoint) {
    prepare.accept(endpoint);
  }

  @Override
  public void onCompletion(RdmaEndpoint endpoint, WorkCompletion completion) {
    completions.add(completion);
  }

  @Override
  public void onClosed(RdmaEndpoint endpoint, String reason) {
    ends.add(reason);
  }

  WorkCompletion next() throws InterruptedException {
    WorkCompletion next = completions.poll(Transports.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertNotNull(next, "no completion");
    return next;
  }

  WorkCompletion succeeded(long id, WorkOperation operation) throws InterruptedException {
    WorkCompletion next = next();
    assertTrue(next.succeeded(), next.describe());
    assertEquals(id, next.id());
    assertEquals(operation, next.operation());
    return next;
  }

  /**
   * @param statuses one of which it ended with
   */
  WorkCompletion failed(long id, WcStatus... statuses) throws InterruptedException {
    WorkCompletion next = next();
    assertEquals(id, next.id(), next.describe());
    assertTrue(List.of(statuses).contains(next.status()), next.describe());
    return next;
  }

  /** Why it was closed; nothing may come after that. */
  String closed() throws InterruptedException {
    String reason = ends.poll(Transports.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertNotNull(reason, "not closed");
    return reason;
  }

  void nothingMore() {
    assertEquals(0, completions.size(), completions::toString);
    assertEquals(0, ends.size(), ends::toString);
  }
}
