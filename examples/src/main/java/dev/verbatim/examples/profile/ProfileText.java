package dev.verbatim.examples.profile;

import java.util.Comparator;
import java.util.Locale;
import java.util.Map;

/** What {@link ReadProfiles} prints. */
final class ProfileText {
  private static final double LEAST_PERCENT = 0.005;
  private static final int MOST_METHODS = 12;

  private final StringBuilder text = new StringBuilder();

  private ProfileText() {}

  /** All processes of an application, all jobs together. */
  static String of(String title, ProfiledApplication application) {
    ProfileText text = new ProfileText();
    application
        .byRole(_ -> true)
        .forEach((role, shares) -> text.process(title + ", " + role, shares));
    return text.text.toString();
  }

  private void process(String title, CpuShares shares) {
    line(
        "%s: %.1f s of CPU; %,d samples are %.1f %% of it (%d without a stack, %,d lost)",
        title,
        shares.cpuSeconds(),
        shares.samples(),
        shares.sampledPercent(),
        shares.samplesWithoutStack(),
        shares.samplesLost());
    line("  %6.2f %%  Verbatim's code, without the copy", shares.oursPercent());
    each("              %5.2f  %s", shares.parts(), Integer.MAX_VALUE);
    line("  %6.2f %%  the stand-in's copy", shares.copyPercent());
    line("  %6.2f %%  Spark's threads that move blocks", shares.sparkTransferPercent());
    heading("  Innermost methods of Verbatim:", shares.methods());
    each("              %5.2f  %s", shares.methods(), MOST_METHODS);
    heading("  Verbatim's threads, by the kernel:", shares.ourThreads());
    each("              %5.2f  %s", shares.ourThreads(), Integer.MAX_VALUE);
    heading("  Threads without Java:", shares.natives());
    each("              %5.2f  %s", shares.natives(), MOST_METHODS);
  }

  private void heading(String heading, Map<String, Double> percents) {
    if (!percents.isEmpty()) {
      line(heading);
    }
  }

  private void each(String format, Map<String, Double> percents, int most) {
    percents.entrySet().stream()
        .filter(entry -> entry.getValue() >= LEAST_PERCENT)
        .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
        .limit(most)
        .forEach(entry -> line(format, entry.getValue(), entry.getKey()));
  }

  private void line(String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
