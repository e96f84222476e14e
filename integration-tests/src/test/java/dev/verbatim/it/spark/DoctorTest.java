package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.verbatim.it.spark.fixture.Places;
import dev.verbatim.it.spark.fixture.SparkHome;
import dev.verbatim.it.spark.fixture.SparkSubmission;
import dev.verbatim.it.spark.fixture.StandIn;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The doctor as a user runs it on a cluster: the plugin jar alone, by spark-submit. */
class DoctorTest {
  private static final String PROGRAM = "dev.verbatim.shuffle.doctor.ExamineExecutors";

  private static SparkSubmission.Result run(Map<String, String> environment, String... options) {
    return new SparkSubmission(SparkHome.create(List.of()), environment)
        .program(PROGRAM, Places.pluginJar(), options)
        .run();
  }

  /** Standard output alone is JSON; the log is among it here. */
  private static JsonNode report(SparkSubmission.Result result) throws Exception {
    List<String> output = result.output();
    int from = output.indexOf("{");
    int to = output.lastIndexOf("}");
    assertTrue(0 <= from && from < to, () -> String.join("\n", output));
    return JsonMapper.builder().build().readTree(String.join("\n", output.subList(from, to + 1)));
  }

  private static List<String> verdicts(JsonNode findings, String check) {
    return StreamSupport.stream(findings.spliterator(), false)
        .filter(finding -> finding.get("check").asText().equals(check))
        .map(finding -> finding.get("verdict").asText())
        .toList();
  }

  @Test
  @Tag("tcp")
  void shouldSayOfEachExecutorThatItHasNoDevice() throws Exception {
    SparkSubmission.Result result = run(Map.of(), "--json", "--pairs");

    JsonNode report = report(result);
    assertEquals(2, result.exitCode(), "exit code for problems");
    assertEquals("PROBLEM", report.get("verdict").asText());
    assertEquals(List.of("0", "1"), report.get("executors").findValuesAsText("executor"));
    for (JsonNode executor : report.get("executors")) {
      assertEquals(List.of("OK"), verdicts(executor.get("findings"), "settings"));
      assertEquals(List.of("PROBLEM"), verdicts(executor.get("findings"), "open"));
    }
    assertEquals(List.of("WARNING", "WARNING"), verdicts(report.get("cluster"), "pair"));
  }

  @Test
  @Tag("standin")
  void shouldReadBetweenAllExecutorsThatHaveADevice() throws Exception {
    StandIn standIn = new StandIn();
    SparkSubmission.Result result =
        run(
            standIn.environment(),
            "--json",
            "--pairs",
            "--only",
            "open,file-pin,read-loop,read-depth");

    JsonNode report = report(result);
    assertEquals(1, result.exitCode(), () -> report.toPrettyString());
    for (JsonNode executor : report.get("executors")) {
      for (String check : List.of("open", "file-pin", "read-loop")) {
        assertEquals(List.of("OK"), verdicts(executor.get("findings"), check), check);
      }
      // Asked for by name, and the stand-in has no files in /sys.
      assertEquals(List.of("WARNING"), verdicts(executor.get("findings"), "read-depth"));
    }
    List<String> pairs = new ArrayList<>();
    report.get("cluster").forEach(pair -> pairs.add(pair.get("subject").asText()));
    assertEquals(2, pairs.size(), pairs.toString());
    assertTrue(pairs.getFirst().matches("0@\\S+ reads from 1@\\S+"), pairs.toString());
    assertEquals(List.of("OK", "OK"), verdicts(report.get("cluster"), "pair"));
    assertTrue(standIn.reads() > 800, "READs of two loops and two pairs");
    standIn.assertNothingLeft();
  }

  @Test
  @Tag("standin")
  void shouldBlameTheFirewallWhenThePeerAnswersByIpAlone() throws Exception {
    StandIn standIn = new StandIn();
    standIn.faults("cm silent");
    SparkSubmission.Result result =
        run(standIn.environment(), "--json", "--pairs", "--only", "open");

    JsonNode report = report(result);
    assertEquals(2, result.exitCode(), report::toPrettyString);
    assertEquals(List.of("PROBLEM", "PROBLEM"), verdicts(report.get("cluster"), "pair"));
    JsonNode pair = report.get("cluster").get(0);
    assertTrue(pair.get("seen").asText().contains("no answer within"), pair::toPrettyString);
    assertTrue(pair.get("seen").asText().contains("UDP port 4791"), pair::toPrettyString);
    assertTrue(pair.get("cure").asText().contains("allow UDP port 4791"), pair::toPrettyString);
  }

  @Test
  @Tag("standin")
  void shouldShowOneTableAndWhatIsWrongOnce() {
    StandIn standIn = new StandIn();
    standIn.faults("port down");
    SparkSubmission.Result result = run(standIn.environment(), "--only", "jdk,open");

    String text = String.join("\n", result.output());
    assertEquals(2, result.exitCode(), text);
    assertTrue(text.contains("2 executors: PROBLEM"), text);
    assertTrue(text.contains("\n  jdk                 2\n"), text);
    assertTrue(text.contains("\n  open                                           2  all\n"), text);
    assertEquals(1, text.split("PORT_NOT_ACTIVE", -1).length - 1, text);
  }
}
