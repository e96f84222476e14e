package dev.verbatim.shuffle.doctor;

import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * How a RoCE port treats its eight priorities, by what {@code dcb} of iproute2 or NVIDIA's {@code
 * mlnx_qos} print.
 *
 * @param paused priorities with PFC, in order
 * @param trust whether packets get their priority by their DSCP
 */
record Priorities(List<Integer> paused, DscpTrust trust) {
  private static final Pattern DCB = Pattern.compile("\\b([0-7]):(on|off)\\b");
  private static final Pattern MLNX =
      Pattern.compile("PFC configuration:\\s+priority[ 0-7]+\\s+enabled((?:\\s+[01]){8})");

  /** Or why neither tool tells it. */
  record Answer(Optional<Priorities> priorities, String why) {
    private static Answer of(List<Integer> paused, DscpTrust trust) {
      return new Answer(Optional.of(new Priorities(paused, trust)), "");
    }

    private static Answer failed(String why) {
      return new Answer(Optional.empty(), why);
    }
  }

  /** Of the tool that {@code scripts/roce-qos} takes, or else of the other. */
  static Answer ask(Host host, String netdev) {
    Optional<String> driver =
        Uevent.value(host.read("/sys/class/net/" + netdev + "/device/uevent"), "DRIVER");
    // NVIDIA's own driver keeps trust in files, of which dcb knows nothing.
    boolean nvidia = driver.filter(name -> name.startsWith("mlx")).isPresent();
    Answer first = nvidia ? mlnx(host, netdev) : dcb(host, netdev);
    if (first.priorities().isPresent()) {
      return first;
    }
    Answer second = nvidia ? dcb(host, netdev) : mlnx(host, netdev);
    return second.priorities().isPresent()
        ? second
        : Answer.failed(first.why() + "; " + second.why());
  }

  private static Answer dcb(Host host, String netdev) {
    ToolOutput dcb = host.run("dcb", "pfc", "show", "dev", netdev);
    List<MatchResult> switches = DCB.matcher(dcb.text()).results().toList();
    if (!dcb.succeeded() || switches.isEmpty()) {
      return Answer.failed(dcb.succeeded() ? "dcb names no PFC" : dcb.failure("dcb"));
    }
    List<Integer> paused =
        switches.stream()
            .filter(m -> m.group(2).equals("on"))
            .map(m -> Integer.parseInt(m.group(1)))
            .toList();
    return Answer.of(paused, DscpTrust.byDcb(host, netdev));
  }

  private static Answer mlnx(Host host, String netdev) {
    ToolOutput mlnx = host.run("mlnx_qos", "-i", netdev);
    Matcher enabled = MLNX.matcher(mlnx.text());
    if (!mlnx.succeeded() || !enabled.find()) {
      return Answer.failed(mlnx.succeeded() ? "mlnx_qos names no PFC" : mlnx.failure("mlnx_qos"));
    }
    String[] bits = enabled.group(1).trim().split("\\s+");
    List<Integer> paused =
        IntStream.range(0, bits.length).filter(i -> bits[i].equals("1")).boxed().toList();
    return Answer.of(paused, DscpTrust.ofMlnxQos(mlnx.text()));
  }
}
