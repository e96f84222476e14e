package dev.verbatim.shuffle.doctor;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Whether a card gives packets their priority by their DSCP, and which. */
sealed interface DscpTrust {
  /** No tool tells it. */
  record Unknown(String why) implements DscpTrust {}

  /** The priority is that of the VLAN tag, or the default, whatever the DSCP is. */
  record Untrusted(String seen) implements DscpTrust {}

  /**
   * The card goes by a table.
   *
   * @param priorities by DSCP; one that is not in it has the default priority
   */
  record Trusted(SortedMap<Integer, Integer> priorities) implements DscpTrust {}

  Pattern MLNX_TRUST = Pattern.compile("^Priority trust state: *(\\S*)", Pattern.MULTILINE);
  Pattern MLNX_ROW = Pattern.compile("\\bprio:([0-7]) dscp:([0-9,]+)");
  Pattern DCB_ORDER = Pattern.compile("^order:(.*)$", Pattern.MULTILINE);
  Pattern DCB_ENTRY = Pattern.compile("\\b([0-9]{1,2}):([0-7])\\b");

  /** By what {@code mlnx_qos -i} prints. */
  static DscpTrust ofMlnxQos(String text) {
    Matcher trust = MLNX_TRUST.matcher(text);
    String state = trust.find() ? trust.group(1) : "";
    if (state.isEmpty() || state.equals("none")) { // as it says where it cannot ask the driver
      return new Unknown("mlnx_qos does not tell which trust the card has");
    }
    if (!state.equals("dscp")) {
      return new Untrusted("mlnx_qos: trust is " + state);
    }
    SortedMap<Integer, Integer> priorities = new TreeMap<>();
    for (MatchResult row : MLNX_ROW.matcher(text).results().toList()) {
      for (String dscp : row.group(2).split(",")) {
        priorities.put(Integer.parseInt(dscp), Integer.parseInt(row.group(1)));
      }
    }
    return table(priorities, "mlnx_qos: trust is dscp, and no DSCP has a priority");
  }

  /** By the order of trust, where kernel and tool have one; a table of DSCPs is trust itself. */
  static DscpTrust byDcb(Host host, String netdev) {
    ToolOutput trust = host.run("dcb", "apptrust", "show", "dev", netdev);
    Matcher order = DCB_ORDER.matcher(trust.text());
    if (trust.succeeded() && order.find()) {
      List<String> trusted = List.of(order.group(1).strip().split("\\s+"));
      if (!trusted.contains("dscp")) {
        return new Untrusted(
            "dcb apptrust: trust is of " + String.join(", ", trusted).replaceAll("^$", "nothing"));
      }
    }
    // -N: numbers, and not the names of code points.
    ToolOutput app = host.run("dcb", "-N", "app", "show", "dev", netdev, "dscp-prio");
    if (!app.succeeded()) {
      return new Unknown(app.failure("dcb app"));
    }
    SortedMap<Integer, Integer> priorities = new TreeMap<>();
    for (MatchResult entry : DCB_ENTRY.matcher(app.text()).results().toList()) {
      priorities.merge(
          Integer.parseInt(entry.group(1)), Integer.parseInt(entry.group(2)), Math::max);
    }
    return table(priorities, "dcb app: no DSCP has a priority");
  }

  private static DscpTrust table(SortedMap<Integer, Integer> priorities, String empty) {
    return priorities.isEmpty() ? new Untrusted(empty) : new Trusted(priorities);
  }
}
