package dev.verbatim.shuffle.doctor;

import static dev.verbatim.shuffle.doctor.Diagnosis.assertFound;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The Java of the environment, where the doctor runs on another one. */
class JdkCheckTest {
  private static final String HOME = "/usr/lib/jvm/its-own";

  private static Patient withJavaHome(String release) {
    return Patient.roce().answer(Recording.JAVA_HOME, HOME).file(HOME + "/release", release);
  }

  @ParameterizedTest
  @CsvSource({"17.0.9, JDK 17.0.9", "1.8.0_392, JDK 1.8", "25, JDK 25", "25.0.2, JDK 25.0.2"})
  void shouldWarnWhenTheEnvironmentNamesAnOlderOne(String version, String seen) {
    Report report =
        withJavaHome("IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"" + version + "\"").examine("jdk");

    assertEquals(2, report.findings().size());
    assertFound(Verdict.OK, report.findings().getFirst(), "JDK 25.0.3");
    Finding own = report.findings().getLast();
    assertFound(Verdict.WARNING, own, seen + ", which JAVA_HOME or PATH names", "25.0.3 or newer");
    assertEquals(HOME, own.subject());
  }

  @ParameterizedTest
  @ValueSource(strings = {"25.0.3", "25.0.4.1", "26", "27-ea"})
  void shouldSayNothingOfOneThatFits(String version) {
    assertFound(
        Verdict.OK, withJavaHome("JAVA_VERSION=\"" + version + "\"").finding("jdk"), "JDK 25.0.3");
  }

  @Test
  void shouldSayThatItCannotTellWithoutAVersion() {
    List<Finding> none = Patient.roce().answer(Recording.JAVA_HOME, HOME).examine("jdk").findings();
    assertFound(Verdict.UNKNOWN, none.getLast(), "no release file", HOME + "/bin/java -version");

    List<Finding> odd = withJavaHome("JAVA_VERSION=\"unknown\"").examine("jdk").findings();
    assertFound(Verdict.UNKNOWN, odd.getLast(), "no release file");
  }

  @Test
  void shouldBeRecorded() {
    RecordingHost recorder = new RecordingHost(withJavaHome("JAVA_VERSION=\"21.0.1\"").host());
    Settings settings = Patient.roce().settings();
    Report first = Doctor.examine(recorder, settings, Set.of("jdk"));

    Report again =
        Doctor.examine(
            new RecordedHost(Recording.parse(recorder.recording().text())),
            settings,
            Set.of("jdk"));

    assertEquals(Verdict.WARNING, again.verdict());
    assertEquals(first, again);
  }
}
