package dev.verbatim.it.machine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The network interface that carries RDMA in a Soft-RoCE guest, and what it can be made to do. */
public final class RdmaLink {
  public static final String INTERFACE = "d0";

  private static final Pattern DROPPED = Pattern.compile("\\(dropped (\\d+),");
  private static final Path COUNTERS = Path.of("/sys/class/infiniband/rxe0/ports/1/hw_counters");
  private static final List<String> REPEATED =
      List.of("duplicate_request", "out_of_seq_request", "completer_retry_err");

  private RdmaLink() {}

  /** Takes the link down, and with it the device's port. */
  public static void down() {
    Command.run("ip", "link", "set", INTERFACE, "down");
  }

  public static void up() {
    Command.run("ip", "link", "set", INTERFACE, "up");
  }

  /**
   * Disturbs all packets that leave by the link until {@link #heal()}: tc-netem(8).
   *
   * @param disturbance in the words of {@code tc}, for example {@code loss 1%}
   */
  public static void disturb(String disturbance) {
    queueing("replace dev " + INTERFACE + " root netem " + disturbance);
  }

  /** Lets packets leave undisturbed again. */
  public static void heal() {
    // What comes after "pfifo" has no disturbance left, and may be said twice.
    queueing("replace dev " + INTERFACE + " root pfifo");
  }

  /** Packets that were lost since {@link #disturb}. */
  public static long dropped() {
    String state = queueing("show dev " + INTERFACE);
    Matcher matcher = DROPPED.matcher(state);
    if (!matcher.find()) {
      throw new AssertionError(state);
    }
    return Long.parseLong(matcher.group(1));
  }

  /** Requests and READ responses that the device had to repeat, since the machine is up. */
  public static long repeated() {
    long sum = 0;
    for (String counter : REPEATED) {
      try {
        sum += Long.parseLong(Files.readString(COUNTERS.resolve(counter)).strip());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return sum;
  }

  private static String queueing(String words) {
    List<String> command = new ArrayList<>(List.of("tc", "-s", "qdisc"));
    command.addAll(List.of(words.split(" ")));
    return Command.run(command.toArray(String[]::new));
  }
}
