package dev.verbatim.it.machine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The network interface that carries RDMA in a Soft-RoCE guest, and what it can be made to do. */
public final class RdmaLink {
  public static final String INTERFACE = "d0";

  private static final String FILTER = "tc -s filter %s dev " + INTERFACE + " ingress";
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

  /**
   * Drops all packets to this UDP port that come by the link, until {@link #unblock()}. Not those
   * that leave: Soft-RoCE is told of that, and its queue pair for connecting does not recover.
   */
  public static void blockUdp(int port) {
    queueing("add dev " + INTERFACE + " clsact");
    run(
        FILTER.formatted("add")
            + " protocol ip u32 match ip protocol 17 0xff match ip dport "
            + port
            + " 0xffff action drop");
  }

  /** Lets all packets in again. */
  public static void unblock() {
    queueing("del dev " + INTERFACE + " clsact");
  }

  /** Packets that were dropped since {@link #blockUdp}. */
  public static long blocked() {
    return dropped(run(FILTER.formatted("show")));
  }

  /** Packets that were lost since {@link #disturb}. */
  public static long dropped() {
    return dropped(queueing("show dev " + INTERFACE));
  }

  private static long dropped(String state) {
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
    return run("tc -s qdisc " + words);
  }

  private static String run(String command) {
    return Command.run(command.split(" "));
  }
}
