package dev.verbatim.it.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.verbatim.it.machine.Command;
import dev.verbatim.it.spark.fixture.Scrape;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Alerts and the dashboard, as Prometheus itself understands them. */
@Tag("scripts")
class AlertRulesTest {
  private static final Path RULES = Scrape.CONF.resolve("prometheus-alerts.yml");

  /** When which alert fires. */
  private static final Path CASES =
      Scrape.CONF.resolveSibling("integration-tests/src/test/resources/prometheus/alerts.yml");

  @TempDir private Path folder;

  @BeforeAll
  static void findPromtool() {
    assumeTrue(
        Stream.of(System.getenv("PATH").split(File.pathSeparator))
            .anyMatch(place -> Files.isExecutable(Path.of(place, "promtool"))),
        "no promtool on the PATH: it is in Debian's package prometheus, and scripts/test fetches it");
  }

  @Test
  void shouldBeRulesForPrometheus() {
    String said = Command.run("promtool", "check", "rules", RULES.toString());

    int rules = Scrape.yaml("prometheus-alerts.yml").findValuesAsText("alert").size();
    assertTrue(said.contains("SUCCESS: " + rules + " rules found"), said);
  }

  @Test
  void shouldFireWhenAndOnlyWhenTheyAreMeantTo() throws IOException {
    Command.run("promtool", "test", "rules", CASES.toString());

    // Each alert has a case in which it fires and one in which it does not.
    Set<String> firing = new TreeSet<>();
    Set<String> silent = new TreeSet<>();
    for (JsonNode check : new YAMLMapper().readTree(CASES.toFile()).findValues("alert_rule_test")) {
      for (JsonNode one : check) {
        boolean fires = one.required("exp_alerts").size() > 0;
        (fires ? firing : silent).add(one.required("alertname").asText());
      }
    }
    Set<String> all = new TreeSet<>(Scrape.yaml("prometheus-alerts.yml").findValuesAsText("alert"));
    assertEquals(all, firing);
    assertEquals(all, silent);
  }

  /** As rules, since Prometheus has no file of queries. */
  @Test
  void shouldUnderstandWhatTheDashboardAsks() throws IOException {
    List<Map<String, String>> rules = new ArrayList<>();
    for (String query : Scrape.yaml("grafana-dashboard.json").findValuesAsText("expr")) {
      String filledIn = query.replace("$__rate_interval", "1m").replace("$application", "app_1");
      assertTrue(!filledIn.contains("$"), query);
      rules.add(Map.of("record", "dashboard:query" + rules.size(), "expr", filledIn));
    }
    Path file = folder.resolve("dashboard.yml");
    new YAMLMapper()
        .writeValue(
            file.toFile(), Map.of("groups", List.of(Map.of("name", "dashboard", "rules", rules))));

    String said = Command.run("promtool", "check", "rules", file.toString());

    assertTrue(said.contains("SUCCESS: " + rules.size() + " rules found"), said);
  }
}
