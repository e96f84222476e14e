package dev.verbatim.shuffle.doctor;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The link should run at the speed and width that the NIC can do. */
final class LinkSpeedCheck extends PortCheck {
  private static final Pattern RATE = Pattern.compile("([0-9.]+) Gb/sec \\((\\d+)X.*\\)");
  private static final Pattern MODE = Pattern.compile("\\b(\\d+)base\\w+/\\w+");
  private static final int USUAL_LANES = 4;

  LinkSpeedCheck() {
    super("link-speed");
  }

  @Override
  void examine(RdmaPort port, Examination examination, Findings findings) {
    Optional<String> rate = port.attribute("rate");
    if (rate.isEmpty() || !port.isActive()) {
      findings.unknown(port.toString(), "the port is not active", "");
    } else if (port.isSoftware()) {
      findings.ok(
          port.toString(), rate.get() + "; a driver without a NIC: what it says is nominal");
    } else {
      String active =
          examination
              .verbs()
              .port(port.device(), port.number())
              .map(v -> ", active " + v.rate())
              .orElse("");
      if (port.isRoce() || port.isIwarp()) {
        ethernet(examination.host(), port, rate.get() + active, findings);
      } else {
        lanes(port, rate.get(), rate.get() + active, findings);
      }
    }
  }

  /** A link of fewer lanes than usual is a bad cable. No file tells the speed that could be. */
  private static void lanes(RdmaPort port, String rate, String seen, Findings findings) {
    Matcher matcher = RATE.matcher(rate);
    if (matcher.matches() && Integer.parseInt(matcher.group(2)) < USUAL_LANES) {
      findings.warning(
          port.toString(),
          seen,
          USUAL_LANES + " lanes, if the port has them",
          "reseat or change the cable; iblinkinfo tells what both ends can do");
    } else {
      findings.unknown(
          port.toString(),
          seen + "; the speed that the port supports is in no file of sysfs",
          "ibportstate -C %s -P %d -D 0 %d, as root: the active speed must be the most of those"
                  .formatted(port.device(), port.number(), port.number())
              + " supported, LinkSpeedExt before LinkSpeed");
    }
  }

  private static void ethernet(Host host, RdmaPort port, String seen, Findings findings) {
    Optional<String> netdev = port.netdev();
    OptionalInt speed = number(port.netdev("speed"));
    if (netdev.isEmpty() || speed.isEmpty()) {
      findings.unknown(port.toString(), seen + "; the speed of its interface cannot be read", "");
      return;
    }
    ToolOutput ethtool = host.run("ethtool", netdev.get());
    OptionalInt best = ethtool.succeeded() ? fastest(ethtool.text()) : OptionalInt.empty();
    String told = seen + "; " + netdev.get() + " at " + speed.getAsInt() + " Mb/s";
    if (best.isEmpty()) {
      String why = ethtool.succeeded() ? "ethtool names no mode" : ethtool.failure("ethtool");
      findings.unknown(
          port.toString(),
          told + "; what the NIC can do is not known: " + why,
          "apt-get install ethtool");
    } else if (speed.getAsInt() < best.getAsInt()) {
      findings.warning(
          port.toString(),
          told,
          best.getAsInt() + " Mb/s, which the NIC supports",
          "check cable, transceiver and switch port; ethtool " + netdev.get());
    } else {
      findings.ok(port.toString(), told + ", the most that the NIC supports");
    }
  }

  private static OptionalInt number(Optional<String> text) {
    return text.filter(t -> t.matches("\\d{1,9}")).isPresent()
        ? OptionalInt.of(Integer.parseInt(text.get()))
        : OptionalInt.empty();
  }

  /** Of the supported link modes, which come before those that are advertised. */
  private static OptionalInt fastest(String ethtool) {
    int from = ethtool.indexOf("Supported link modes:");
    int to = ethtool.indexOf("Supported pause frame use:");
    if (from < 0 || to < from) {
      return OptionalInt.empty();
    }
    List<MatchResult> modes = MODE.matcher(ethtool.substring(from, to)).results().toList();
    return modes.stream().mapToInt(mode -> Integer.parseInt(mode.group(1))).max();
  }
}
