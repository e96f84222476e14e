package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.verbatim.it.spark.fixture.Places;
import dev.verbatim.shuffle.doctor.ExamineHost;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code scripts/doctor} for one host, which has no device, run outside of the checkout. */
@Tag("scripts")
class DoctorHostScriptTest {
  private static final Path JDK = Path.of(System.getProperty("java.home"));
  private static final Set<String> NEED_A_DEVICE = Set.of("open", "file-pin", "read-loop");
  private static final Pattern HEAD = Pattern.compile("(?m)^\\S+: (WARNING|PROBLEM) \\(\\d");
  private static final Pattern BLOCK =
      Pattern.compile(
          "<!-- needs: [^>]*DoctorHostScriptTest[^>]*-->\\R```sh\\R(.*?)```", Pattern.DOTALL);

  @TempDir private Path folder;

  private Script doctor() {
    return doctor(folder);
  }

  private Script doctor(Path startedIn) {
    return new Script("doctor", startedIn).with("SPARK_HOME", "").with("JAVA_HOME", JDK);
  }

  private static JsonNode json(Script.Result result) throws Exception {
    return JsonMapper.builder()
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .build()
        .readTree(result.output());
  }

  @Test
  void shouldExamineThisHostByAllChecks() throws Exception {
    Script.Result result = doctor().run().exits(2);

    String report = result.output();
    assertTrue(report.matches("(?s)\\S+: PROBLEM \\(\\d+ problems?, .*"), report);
    result.says("  PROBLEM  devices         no RDMA device", "cure: fit a NIC with RDMA");
    for (String check : ExamineHost.checks()) {
      assertTrue(report.contains(" " + check), check + " in\n" + report);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "jdk, 0, '(0 problems, 0 warnings, 1 fine, 0 not seen)'",
    "'jdk,devices', 2, '(1 problem, 0 warnings, 1 fine, 0 not seen)'",
    "gid, 1, 'there is no RDMA port to look at'"
  })
  void shouldExamineByTheChecksThatAreNamed(String checks, int exitCode, String says)
      throws Exception {
    doctor().run("--only", checks).exits(exitCode).says(says);
  }

  @Test
  void shouldWriteJsonAlone() throws Exception {
    JsonNode report = json(doctor().run("--json").exits(2));

    assertEquals("PROBLEM", report.get("verdict").asText());
    assertTrue(report.hasNonNull("host"), report::toString);
    Set<String> checks = new TreeSet<>();
    for (JsonNode finding : report.get("findings")) {
      List<String> names = new ArrayList<>();
      finding.fieldNames().forEachRemaining(names::add);
      assertEquals(List.of("check", "subject", "verdict", "seen", "needed", "cure"), names);
      checks.add(finding.get("check").asText());
    }
    assertEquals(new TreeSet<>(ExamineHost.checks()), checks);
  }

  @Test
  void shouldFindTheSameInARecordingFromAnotherFolder() throws Exception {
    Path here = Files.createDirectories(folder.resolve("here"));
    Path there = Files.createDirectories(folder.resolve("there"));
    JsonNode host = json(doctor(here).run("--json", "--record", "host.txt").exits(2));
    Path recording = here.resolve("host.txt");
    String text = Files.readString(recording);
    assertTrue(text.contains("=== host\n"), text);
    Files.writeString(recording, text.replaceFirst("(?m)^=== host\n.*", "=== host\nanother"));

    JsonNode again = json(doctor(there).run("--replay", "../here/host.txt", "--json").exits(2));

    assertEquals("another", again.get("host").asText());
    assertEquals(withoutDevice(host), withoutDevice(again));
  }

  private static List<JsonNode> withoutDevice(JsonNode report) {
    List<JsonNode> findings = new ArrayList<>();
    report.get("findings").forEach(findings::add);
    findings.removeIf(finding -> NEED_A_DEVICE.contains(finding.get("check").asText()));
    assertTrue(findings.size() > NEED_A_DEVICE.size(), report::toString);
    return findings;
  }

  @Test
  void shouldDoWhatTheDocumentationSays() throws Exception {
    doctor().run("--only", "jdk").exits(0); // and so there is a Spark
    Files.createSymbolicLink(folder.resolve("scripts"), Script.ROOT.resolve("scripts"));
    Files.createSymbolicLink(folder.resolve("shuffle-manager-VERSION.jar"), Places.pluginJar());
    List<String> lines =
        BLOCK
            .matcher(Files.readString(Script.ROOT.resolve("docs/doctor.md")))
            .results()
            .flatMap(block -> block.group(1).lines())
            .toList();
    assertTrue(lines.size() >= 5, lines::toString);

    for (String line : lines) {
      Path program = Script.program(folder.resolve("line"), line + "\n");
      Script.Result result =
          new Script(program, folder)
              .with("SPARK_HOME", Script.ROOT.resolve("work/spark-home"))
              .with("JAVA_HOME", JDK)
              .with("PATH", JDK.resolve("bin") + File.pathSeparator + System.getenv("PATH"))
              .run();

      String said = line + "\n" + result.output() + result.errors();
      assertTrue(Set.of(1, 2).contains(result.exitCode()), said);
      assertTrue(HEAD.matcher(result.output()).find(), said);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--fast | unknown option --fast",
        "--only | --only needs a value",
        "--only weather | --only: no check weather",
        "--pairs | --pairs wants --spark",
        "-- --conf a=b | options of spark-submit want --spark",
        "--record a --spark yarn | --record is for one host",
        "--replay none.txt | none.txt cannot be read",
        "--only jdk --record none/host.txt | no recording can be written to ",
        "--jar none.jar | There is no plugin jar "
      })
  void shouldExplainWhenItIsUsedWrongly(String words, String explanation) throws Exception {
    Script.Result result = doctor().run(words.split(" ")).exits(3);

    assertTrue(result.errors().contains(explanation), result.errors());
    assertEquals("", result.output());
  }

  /** The code for warnings is also that of a JVM that finds no class. */
  @Test
  void shouldTellAFailedProgramFromWarnings() throws Exception {
    Files.createDirectories(folder.resolve("spark/jars"));
    Script doctor = new Script("doctor", folder).with("SPARK_HOME", "spark");
    String[] says = {"doctor: java.lang.NoClassDefFoundError: ", "use Spark 4.2"};
    assertEquals("", doctor.run("--json").exits(3).says(says).output());

    Files.writeString(folder.resolve("no.jar"), "");
    doctor.run("--jar", "no.jar").exits(3).says("java ended with code 1 and without a report");
    doctor.with("SPARK_HOME", folder).run().exits(3).says(" has no jars/");
  }

  /** The doctor looks for a JDK by itself; Spark's scripts do not. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldWarnWhenTheEnvironmentNamesAnOlderJava(boolean byJavaHome) throws Exception {
    Path old = folder.toRealPath().resolve("old");
    Path java = Script.program(old.resolve("bin/java"), "#!/bin/sh\nexit 1\n");
    Files.writeString(old.resolve("release"), "JAVA_VERSION=\"17.0.9\"\n");
    Path first = byJavaHome ? JDK.resolve("bin") : java.getParent();
    Script doctor =
        doctor()
            .with(
                "PATH",
                String.join(
                    File.pathSeparator,
                    first.toString(),
                    JDK.resolve("bin").toString(),
                    System.getenv("PATH")));

    (byJavaHome ? doctor.with("JAVA_HOME", old) : doctor.without("JAVA_HOME"))
        .run("--only", "jdk")
        .exits(1)
        .says(
            "  OK       jdk             JDK ",
            "  WARNING  jdk             " + old + ": JDK 17.0.9");
  }

  @ParameterizedTest
  @CsvSource({"--json, findings", "--json --spark yarn, cluster"})
  void shouldSayInJsonThatThereIsNoJdk(String words, String where) throws Exception {
    Script.Result result = withoutJdk().run(words.split(" ")).exits(2).says("No JDK >= 99 found");

    JsonNode report = json(result);
    assertEquals("PROBLEM", report.get("verdict").asText());
    JsonNode finding = report.get(where).get(0);
    assertEquals("jdk", finding.get("check").asText());
    String seen = finding.get("seen").asText();
    assertTrue(seen.endsWith("JAVA_HOME or PATH names /a \"JDK\" \\8"), seen);
    assertTrue(finding.get("needed").asText().startsWith("JDK 99"), finding::toString);
  }

  @Test
  void shouldSayThatThereIsNoJdk() throws Exception {
    assertEquals("", withoutJdk().run().exits(2).says("No JDK >= 99 found").output());
    withoutJdk().run("--replay", "host.txt").exits(3).says("No JDK >= 99 found");
  }

  /** In a checkout that wants a JDK which nobody has. */
  private Script withoutJdk() throws Exception {
    Path checkout = folder.resolve("checkout");
    if (!Files.exists(checkout)) {
      Path jdk = Checkout.of(checkout, "scripts").resolve("scripts/lib/jdk.sh");
      Files.writeString(jdk, Files.readString(jdk).replace("minimum=25.0.3", "minimum=99"));
    }
    return new Script(checkout.resolve("scripts/doctor"), folder)
        .with("JAVA_HOME", "/a \"JDK\" \\8");
  }
}
