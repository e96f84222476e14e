package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells endpoints of a group the ends of their requests. */
final class EndpointPoller extends QueuePoller {
  /** Nothing is due by time here. */
  private static final int BLOCK_MILLIS = 1000;

  private static final Logger LOG = LoggerFactory.getLogger(EndpointPoller.class);

  private final SendQueueTable<RdmaEndpoint> table;
  private final WorkEnd end;

  EndpointPoller(
      OpenPort port,
      SendQueueTable<RdmaEndpoint> table,
      EndpointConfig config,
      Consumer<String> deviceFailed)
      throws VerbsException {
    super(
        port.verbs(),
        port.posix(),
        port.channel(),
        port.completionQueue(),
        config.spin(),
        BLOCK_MILLIS,
        deviceFailed,
        Arena.ofAuto());
    this.table = table;
    this.end = new WorkEnd(completions);
  }

  @Override
  void take(int count) {
    for (int i = 0; i < count; i++) {
      long number = end.at(i).number();
      int key = (int) (number >>> 32);
      RdmaEndpoint endpoint = table.get(key);
      if (endpoint != null) {
        try {
          endpoint.completed(key, (int) number, end);
        } catch (Throwable e) { // no memory for it: the other endpoints' must be told all the same
          WakeUp.say(e, LOG, "A completion could not be told");
          endpoint.fail("a completion could not be told: " + e);
        }
      }
    }
  }

  @Override
  void checkDeadlines() {}
}
