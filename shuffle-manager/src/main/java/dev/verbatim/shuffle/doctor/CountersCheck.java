package dev.verbatim.shuffle.doctor;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Nothing should be lost or damaged on the link; pauses are told. */
final class CountersCheck extends PortCheck {
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
      Pattern.compile("^\\s*(\\w+): (\\d+)", Pattern.MULTILINE);
  private static final Pattern LOSS =
      Pattern.compile("rx_discards_phy|tx_discards_phy|rx_crc_errors_phy|rx_symbol_err_phy");
  private static final Pattern PAUSE = Pattern.compile("[rt]x_(prio\\d_)?pause");

  CountersCheck() {
    super("counters");
  }

  @Override
  void examine(RdmaPort port, Examination examination, Findings findings) {
    Map<String, Long> losses = new LinkedHashMap<>();
    Map<String, Long> pauses = new LinkedHashMap<>();
    boolean told = false;
    for (String file : LOSSES) {
      Optional<String> value = port.attribute(file).filter(text -> text.matches("\\d{1,18}"));
      told |= value.isPresent();
      value.ifPresent(text -> put(losses, file.substring(file.indexOf('/') + 1), text));
    }
    if (!port.isSoftware() && port.netdev().isPresent()) {
      ToolOutput ethtool = examination.host().run("ethtool", "-S", port.netdev().get());
      Matcher statistics = STATISTIC.matcher(ethtool.text());
      for (MatchResult line : statistics.results().toList()) {
        told = true;
        if (LOSS.matcher(line.group(1)).matches()) {
          put(losses, line.group(1), line.group(2));
        } else if (PAUSE.matcher(line.group(1)).matches()) {
          put(pauses, line.group(1), line.group(2));
        }
      }
    }
    String paused = pauses.isEmpty() ? "" : "; paused: " + pauses;
    if (!told) {
      findings.unknown(port.toString(), "the driver shows no counter", "");
    } else if (losses.isEmpty()) {
      findings.ok(port.toString(), "nothing lost or damaged since the driver was loaded" + paused);
    } else {
      findings.warning(
          port.toString(),
          "since the driver was loaded: " + losses + paused,
          "counters that stand still",
          "look again under load: rdma statistic show link %s/%d; where they grow: PFC, cables,"
                  .formatted(port.device(), port.number())
              + " drops of the switch");
    }
  }

  private static void put(Map<String, Long> counters, String name, String value) {
    if (Long.parseLong(value) != 0) {
      counters.put(name, Long.parseLong(value));
    }
  }
}
