package dev.verbatim.shuffle.doctor;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * What a port and its network interface have counted since the driver was loaded.
 *
 * @param losses what was lost, damaged or repeated
 * @param pauses of flow control
 * @param told whether the driver counts at all
 */
record PortCounters(SortedMap<String, Long> losses, SortedMap<String, Long> pauses, boolean told) {
  /** Of all drivers; one has some of them. */
  private static final List<String> LOSSES =
      List.of(
          "counters/symbol_error",
          "counters/link_error_recovery",
          "counters/port_rcv_errors",
          "counters/port_xmit_discards",
          "counters/local_link_integrity_errors",
          "counters/excessive_buffer_overrun_errors",
          "hw_counters/out_of_sequence",
          "hw_counters/packet_seq_err",
          "hw_counters/local_ack_timeout_err",
          "hw_counters/implied_nak_seq_err",
          "hw_counters/rx_icrc_encapsulated",
          "hw_counters/out_of_seq_request",
          "hw_counters/rcvd_seq_err",
          "hw_counters/retry_exceeded_err",
          "hw_counters/completer_retry_err",
          "hw_counters/recoverable_errors",
          "hw_counters/to_retransmits",
          "hw_counters/seq_err_naks_rcvd",
          "hw_counters/max_retry_exceeded");

  private static final Pattern STATISTIC =
      Pattern.compile("^\\s*(\\w+): (\\d{1,18})\\b", Pattern.MULTILINE);
  private static final Pattern LOSS =
      Pattern.compile("rx_discards_phy|tx_discards_phy|rx_crc_errors_phy|rx_symbol_err_phy");
  private static final Pattern PAUSE = Pattern.compile("[rt]x_(prio\\d_)?pause");

  static PortCounters of(RdmaPort port, Host host) {
    SortedMap<String, Long> losses = new TreeMap<>();
    SortedMap<String, Long> pauses = new TreeMap<>();
    boolean told = false;
    for (String file : LOSSES) {
      Optional<String> value = port.attribute(file).filter(text -> text.matches("\\d{1,18}"));
      told |= value.isPresent();
      value.ifPresent(
          text -> losses.put(file.substring(file.indexOf('/') + 1), Long.parseLong(text)));
    }
    if (!port.isSoftware() && port.netdev().isPresent()) {
      ToolOutput ethtool = host.run("ethtool", "-S", port.netdev().get());
      for (MatchResult line : STATISTIC.matcher(ethtool.text()).results().toList()) {
        told = true;
        if (LOSS.matcher(line.group(1)).matches()) {
          losses.put(line.group(1), Long.parseLong(line.group(2)));
        } else if (PAUSE.matcher(line.group(1)).matches()) {
          pauses.put(line.group(1), Long.parseLong(line.group(2)));
        }
      }
    }
    return new PortCounters(losses, pauses, told);
  }

  /** Losses that are more than they were, by how much. */
  SortedMap<String, Long> lossesSince(PortCounters before) {
    SortedMap<String, Long> growth = new TreeMap<>();
    losses.forEach(
        (name, value) -> growth.put(name, value - before.losses.getOrDefault(name, value)));
    growth.values().removeIf(value -> value <= 0);
    return growth;
  }

  /** Without those that are 0. */
  static Map<String, Long> counted(SortedMap<String, Long> counters) {
    SortedMap<String, Long> counted = new TreeMap<>(counters);
    counted.values().removeIf(value -> value == 0);
    return counted;
  }
}
