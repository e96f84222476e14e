package dev.verbatim.transport.measure;

import dev.verbatim.transport.EndpointException;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.EndpointLimits;
import dev.verbatim.transport.RegistrationException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** The side that measures against a {@link MeasureServer}. */
public final class Measure {
  private final EndpointGroup group;
  private final InetSocketAddress server;

  /**
   * @param group whose endpoints are used; several measurements at a time disturb each other
   * @param server where the server listens
   */
  public Measure(EndpointGroup group, InetSocketAddress server) {
    this.group = group;
    this.server = server;
  }

  /**
   * Connects, warms up, measures, checks the bytes that have come (not those of {@link
   * MeasuredOperation#SEND}) and disconnects.
   *
   * @throws EndpointException when the server cannot be reached or does not go on, a message fails,
   *     or bytes are not those that were sent
   * @throws IllegalArgumentException when a value is out of its range, or the depth is more than
   *     the group's
   */
  public Measurement run(MeasureConfig config)
      throws EndpointException, RegistrationException, InterruptedException {
    config.conclude();
    checkDepth(config);
    List<MeasureLane> lanes = new ArrayList<>();
    try {
      for (int i = 0; i < config.queuePairs(); i++) {
        MeasureLane lane = new MeasureLane(group, config);
        lanes.add(lane);
        lane.connect(server);
      }
      if (config.warmUp() > 0) {
        measure(config, lanes, MeasureRun.ofMessages(config.warmUp()));
      }
      MeasureRun run = MeasureRun.of(config);
      measure(config, lanes, run);
      for (MeasureLane lane : lanes) {
        lane.check();
      }
      return run.result(config);
    } finally {
      for (MeasureLane lane : lanes) {
        lane.close();
      }
    }
  }

  private void checkDepth(MeasureConfig config) {
    EndpointLimits limits = group.limits();
    if (config.operation() == MeasuredOperation.SEND
        && limits.receiveDepth() < MeasureProtocol.CREDITS) {
      throw new IllegalArgumentException(
          "receiveDepth = %d of the EndpointConfig: SEND needs %d for what the server tells"
              .formatted(limits.receiveDepth(), MeasureProtocol.CREDITS));
    }
    // An answer may come before the acknowledgement of what it answers.
    int most =
        config.operation() == MeasuredOperation.PING_PONG
            ? Math.min(limits.sendDepth() / 2, limits.receiveDepth())
            : limits.sendDepth();
    if (config.depth() > most) {
      throw new IllegalArgumentException(
          "depth = %d is more than sendDepth and receiveDepth of the EndpointConfig allow, %d"
              .formatted(config.depth(), most));
    }
  }

  private static void measure(MeasureConfig config, List<MeasureLane> lanes, MeasureRun run)
      throws EndpointException, InterruptedException {
    run.begin(lanes.size());
    for (MeasureLane lane : lanes) {
      lane.begin(run);
    }
    run.await(config);
  }
}
