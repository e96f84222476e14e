package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code scripts/doctor --spark}, on a host without a device. */
@Tag("scripts")
class DoctorScriptTest {
  /** Says what it was asked for, as a report. */
  private static final String SUBMIT = "#!/bin/sh\nprintf '%s\\n' \"$@\"\n";

  private static final String BUILD =
      """
      #!/bin/sh
      echo "$@" >> builds
      mkdir -p shuffle-manager/target
      touch shuffle-manager/target/shuffle-manager-9-sources.jar shuffle-manager/target/shuffle-manager-9.jar
      """;

  @TempDir private Path folder;

  /** A Spark whose {@code spark-submit} is this. */
  private Path spark(String submit) throws IOException {
    Files.createDirectories(folder.resolve("spark/jars"));
    return Script.program(folder.resolve("spark/bin/spark-submit"), submit).getParent().getParent();
  }

  /** A checkout in which nothing was built, with this as the build. */
  private Path checkout(String build) throws IOException {
    Path checkout = Checkout.of(folder.resolve("checkout"), "scripts");
    return Script.program(checkout.resolve("mvnw"), build).getParent();
  }

  @Test
  void shouldExamineAllExecutorsAsADocumentedLineSays() throws Exception {
    List<String> documented = documented("scripts/doctor --spark yarn --pairs -- ");
    assertEquals(1, documented.size());
    String[] arguments =
        documented.getFirst().replace("yarn", "local-cluster[2,1,1024]").split(" ");

    Script.Result result =
        new Script("doctor", folder)
            .with("SPARK_HOME", "")
            .run(List.of(arguments).subList(1, arguments.length).toArray(String[]::new));

    System.out.println(result.output());
    result.exits(2);
    String report = result.output();
    assertTrue(report.startsWith("2 executors: PROBLEM\n\n"), report);
    assertTrue(report.contains("\n  jdk                 2\n"), report);
    assertTrue(report.contains("\n  PROBLEM  devices         no RDMA device\n"), report);
    for (int executor = 0; executor < 2; executor++) {
      String pair = "  WARNING  pair +%d@\\S+: it has no RDMA: \\S.*".formatted(executor);
      assertEquals(1, report.lines().filter(line -> line.matches(pair)).count(), report);
    }
  }

  @Test
  void shouldSubmitWhatTheDocumentationSays() throws Exception {
    for (String line : documented("scripts/doctor --spark ")) {
      String[] words = line.replaceFirst(" [|>].*", "").split(" ");
      List<String> arguments = List.of(words).subList(1, words.length);

      Script.Result result =
          new Script("doctor", folder)
              .with("SPARK_HOME", spark(SUBMIT))
              .run(arguments.toArray(String[]::new));

      List<String> expected = new ArrayList<>(List.of("--master", arguments.get(1)));
      int end = arguments.contains("--") ? arguments.indexOf("--") : arguments.size();
      expected.addAll(arguments.subList(Math.min(end + 1, arguments.size()), arguments.size()));
      expected.addAll(List.of("--class", "dev.verbatim.shuffle.doctor.ExamineExecutors"));
      List<String> submitted = result.exits(0).output().lines().toList();
      assertEquals(expected, submitted.subList(0, expected.size()), line);
      assertTrue(submitted.get(expected.size()).endsWith(".jar"), submitted::toString);
      assertEquals(
          arguments.subList(2, end),
          submitted.subList(expected.size() + 1, submitted.size()),
          line);
    }
  }

  /** With jq itself; the master alone is another one. */
  @Test
  void shouldListTheProblemsOfAllExecutorsAsADocumentedLineDoes() throws Exception {
    String line = documented("scripts/doctor --spark yarn --pairs --json > ").getFirst();
    Files.createSymbolicLink(folder.resolve("scripts"), Script.ROOT.resolve("scripts"));
    Path program =
        Script.program(
            folder.resolve("line"), line.replace(" yarn ", " 'local-cluster[2,1,1024]' ") + "\n");

    Script.Result result = new Script(program, folder).with("SPARK_HOME", "").run();

    result.exits(0);
    assertEquals(
        2, result.output().lines().filter("no RDMA device"::equals).count(), result.output());
    assertFalse(result.output().contains("it has no RDMA"), "which is a warning");
    JsonNode report = JsonMapper.builder().build().readTree(folder.resolve("doctor.json").toFile());
    assertEquals(2, report.get("executors").size());
    assertEquals(2, report.get("cluster").size());
  }

  private static List<String> documented(String start) throws IOException {
    List<String> lines =
        Files.readAllLines(Script.ROOT.resolve("docs/doctor.md")).stream()
            .filter(line -> line.startsWith(start))
            .toList();
    assertFalse(lines.isEmpty(), start);
    return lines;
  }

  @Test
  void shouldBuildThePluginOnceWhenNothingIsBuilt() throws Exception {
    Path checkout = checkout(BUILD);
    String jar = checkout + "/shuffle-manager/target/shuffle-manager-9.jar";
    for (int run = 0; run < 2; run++) {
      Script.Result result =
          new Script(checkout.resolve("scripts/doctor"), folder)
              .with("SPARK_HOME", spark(SUBMIT))
              .run("--spark", "yarn");

      assertTrue(result.exits(0).output().lines().anyMatch(jar::equals), result::output);
      assertEquals(run == 0, result.errors().contains("Building the plugin"), result::errors);
    }
    assertEquals(1, Files.readAllLines(checkout.resolve("builds")).size());
  }

  @Test
  void shouldFailWhenTheBuildFails() throws Exception {
    Path checkout = checkout("#!/bin/sh\necho no compiler\nexit 1\n");

    new Script(checkout.resolve("scripts/doctor"), folder)
        .with("SPARK_HOME", spark(SUBMIT))
        .run("--spark", "yarn")
        .exits(3)
        .says("no compiler", "doctor: The build failed");
  }

  /** Spark's own failures end with 1, which is the code for warnings; its log may be on either. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "echo \"2 executors: WARNING\"; exit 1 | 1 | 2 executors: WARNING",
        "echo \"2 executors: PROBLEM\"; exit 2 | 2 | 2 executors: PROBLEM",
        "echo no such master >&2; exit 1 | 3 | spark-submit ended with code 1 and without a report",
        "echo \"WARN Utils: no such master\"; exit 1 | 3 | ended with code 1 and without a report",
        "exit 0 | 3 | spark-submit ended with code 0 and without a report",
        "echo \"2 executors: WARNING\"; exit 137 | 3 | ended with code 137",
        // Nothing of Spark but what starts the doctor's program.
        "exec \"$JAVA_HOME/bin/java\" -cp \"$5\" \"$4\" | 3 | doctor: java.lang.NoClassDefFoundError"
      })
  void shouldTellAFailedProgramFromWarnings(String submit, int exitCode, String says)
      throws Exception {
    new Script("doctor", folder)
        .with("SPARK_HOME", spark("#!/bin/sh\n" + submit + "\n"))
        .run("--spark", "yarn")
        .exits(exitCode)
        .says(says);
  }
}
