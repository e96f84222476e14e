package dev.verbatim.shuffle.doctor;

import java.util.Arrays;
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
 * @param tool which was asked
 */
record Priorities(List<Integer> paused, String tool, String text) {
  private static final Pattern DCB = Pattern.compile("\\b([0-7]):(on|off)\\b");
  private static final Pattern MLNX =
      Pattern.compile("PFC configuration:\\s+priority[ 0-7]+\\s+enabled((?:\\s+[01]){8})");
  private static final Pattern MLNX_DSCP = Pattern.compile("prio:([0-7]) dscp:([0-9,]+)");

  /** Or why neither tool tells it. */
  record Answer(Optional<Priorities> priorities, String why) {}

  static Answer ask(Host host, String netdev) {
    ToolOutput dcb = host.run("dcb", "pfc", "show", "dev", netdev);
    if (dcb.succeeded()) {
      List<Integer> paused =
          DCB.matcher(dcb.text())
              .results()
              .filter(m -> m.group(2).equals("on"))
              .map(m -> Integer.parseInt(m.group(1)))
              .toList();
      return new Answer(Optional.of(new Priorities(paused, "dcb", dcb.text())), "");
    }
    ToolOutput mlnx = host.run("mlnx_qos", "-i", netdev);
    Matcher enabled = MLNX.matcher(mlnx.text());
    if (mlnx.succeeded() && enabled.find()) {
      String[] bits = enabled.group(1).trim().split("\\s+");
      List<Integer> paused =
          IntStream.range(0, bits.length).filter(i -> bits[i].equals("1")).boxed().toList();
      return new Answer(Optional.of(new Priorities(paused, "mlnx_qos", mlnx.text())), "");
    }
    return new Answer(Optional.empty(), dcb.failure("dcb") + "; " + mlnx.failure("mlnx_qos"));
  }

  /** The priority that packets with a ToS byte have, by default the upper three bits of DSCP. */
  int of(int tos, Host host, String netdev) {
    int dscp = tos >> 2;
    if (tool.equals("mlnx_qos")) {
      for (MatchResult row : MLNX_DSCP.matcher(text).results().toList()) {
        boolean mapped =
            Arrays.stream(row.group(2).split(",")).anyMatch(d -> Integer.parseInt(d) == dscp);
        if (mapped) {
          return Integer.parseInt(row.group(1));
        }
      }
      return dscp >> 3;
    }
    // -N: numbers, and not the names of code points.
    ToolOutput app = host.run("dcb", "-N", "app", "show", "dev", netdev, "dscp-prio");
    Matcher entry = Pattern.compile("\\b" + dscp + ":([0-7])\\b").matcher(app.text());
    return app.succeeded() && entry.find() ? Integer.parseInt(entry.group(1)) : dscp >> 3;
  }
}
