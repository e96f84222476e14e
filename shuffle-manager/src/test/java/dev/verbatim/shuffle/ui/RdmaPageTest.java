package dev.verbatim.shuffle.ui;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RdmaPageTest {
  private static final Pattern ROW = Pattern.compile("<tr>\\s*<td>([^<]*)</td>");

  private RdmaStatus now = Rows.many(3);
  private final LiveUi ui = new LiveUi(() -> now);

  @AfterEach
  void close() {
    ui.close();
  }

  private String page(String query) {
    var answer = ui.get("/rdma/" + query);
    assertEquals(200, answer.statusCode(), answer.body());
    return answer.body();
  }

  /** First cells of a table's rows. */
  private static List<String> ids(String page, String tag) {
    int start = page.indexOf("id=\"" + tag + "-table\"");
    assertTrue(start >= 0, page);
    return ROW.matcher(page.substring(start, page.indexOf("</table>", start)))
        .results()
        .map(row -> row.group(1))
        .toList();
  }

  @Test
  void shouldShowExecutorsAndShufflesWithTheirNumbers() {
    String page = page("");
    assertEquals(List.of("0", "1", "2"), ids(page, "executors"));
    assertEquals(List.of("0", "1", "2"), ids(page, "shuffles"));
    for (String shown :
        List.of(
            "Executors (3)",
            "Shuffles (3)",
            "<td>PORT_ACTIVE</td>",
            "title=\"RDMA on: device rxe0\">rxe0 port 1 (RoCE v2)</td>",
            "title=\"1048576 bytes\">1024.0 KiB</td>",
            "READ_FAILED: 2</div>",
            ">12.3 µs</td>",
            ">4.6 ms</td>",
            ">7.9 s</td>",
            "MEMLOCK: 4</div>",
            "3 with RDMA, 3 of them with an active port; 0 without",
            "1000.0 B in 100 blocks")) {
      assertTrue(page.contains(shown), () -> shown + " is not in " + page);
    }
  }

  @Test
  void shouldBeATabBesideSparksOwn() {
    assertTrue(ui.get("/executors/").body().contains("href=\"/rdma/\">RDMA</a>"));
    assertTrue(page("").contains("href=\"/executors/\""));
  }

  @Test
  void shouldSayWhyThereIsNothingWhenNothingIsThere() {
    now = Rows.status(List.of(), List.of());
    String page = page("?executors.page=3");
    assertTrue(page.contains("Executors (0)"), page);
    assertTrue(page.contains("No executor has told how it is equipped yet."), page);
    assertFalse(page.contains("<table"), page);
  }

  @Test
  void shouldEscapeWhatExecutorsSay() {
    String evil = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>";
    now =
        new RdmaStatus(
            new ApplicationRow(evil, Rows.executor("total", 1)),
            List.of(Rows.executor(evil, 10, evil, evil), Rows.executor("2", 10, "", evil)),
            List.of(new ShuffleRow(1, true, 1, 1, Map.of(evil, 1L))));
    String page = page("");
    assertFalse(page.contains("<script>alert"), page);
    assertFalse(page.contains("<img src=x"), page);
    assertTrue(page.contains("&lt;script&gt;"), page);
  }

  @Test
  void shouldNotRepeatWhatTheAddressSays() {
    String evil = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
    for (String parameter :
        List.of("executors.sort", "executors.desc", "executors.page", "shuffles.pageSize", "x")) {
      String page = page("?" + parameter + "=" + evil);
      assertFalse(page.contains("alert(1)"), page);
      assertEquals(List.of("0", "1", "2"), ids(page, "executors"));
    }
  }

  @Test
  void shouldShowOnePageWhenThereAreThousands() {
    now = Rows.many(5000);
    String first = page("");
    assertEquals(numbers(0, 100), ids(first, "executors"));
    assertEquals(numbers(0, 100), ids(first, "shuffles"));
    assertTrue(first.length() < 500_000, () -> first.length() + " characters");

    String other = page("?executors.page=50&shuffles.page=2&shuffles.pageSize=10");
    assertEquals(numbers(4900, 5000), ids(other, "executors"));
    assertEquals(numbers(10, 20), ids(other, "shuffles"));
    assertEquals(
        numbers(4000, 5000),
        ids(page("?executors.page=99&executors.pageSize=1000000"), "executors"));
    assertEquals(numbers(0, 1), ids(page("?executors.page=-4&executors.pageSize=0"), "executors"));
  }

  private static List<String> numbers(int from, int to) {
    return IntStream.range(from, to).mapToObj(Integer::toString).toList();
  }

  @Test
  void shouldOrderRowsByTheColumnThatIsAskedFor() {
    now = Rows.many(30);
    String page = page("?executors.sort=Read+by+RDMA&executors.desc=true&executors.pageSize=3");
    assertEquals(List.of("29", "28", "27"), ids(page, "executors"));
    assertEquals(
        List.of("2", "10"),
        List.of(ids(page(""), "executors").get(2), ids(page(""), "executors").get(10)),
        "ids are numbers");
    assertFalse(page.contains("executors.sort=Address"), page);
    assertEquals(
        "0", ids(page("?executors.sort=Address&executors.desc=false"), "executors").getFirst());
  }

  @Test
  void shouldKeepTheStateOfTheOtherTableWhenALinkIsFollowed() {
    now = Rows.many(30);
    String page =
        page(
            "?executors.page=2&executors.pageSize=10&executors.sort=Regions"
                + "&shuffles.pageSize=7&shuffles.desc=true");
    assertEquals(List.of("29", "28", "27", "26", "25", "24", "23"), ids(page, "shuffles"));
    Matcher links = Pattern.compile("href=\"/rdma/(\\?[^\"#]*)").matcher(page);
    int followed = 0;
    while (links.find()) {
      String query = links.group(1).replace("&amp;", "&");
      String other = query.startsWith("?&shuffles") ? "shuffles" : "executors";
      assertEquals(ids(page, other), ids(page(query), other), query);
      followed++;
    }
    assertTrue(followed > 20, followed + " links");
  }

  @Test
  void shouldTellTheSameAsJson() throws Exception {
    JsonNode json = new ObjectMapper().readTree(ui.get("/rdma/json/").body());
    assertEquals(3, json.get("executors").size());
    assertEquals("2", json.get("executors").get(2).get("id").asText());
    assertEquals(20, json.get("executors").get(2).get("bytesByRdma").asLong());
    assertEquals(7_890_000_000L, json.get("executors").get(2).get("readMostNanos").asLong());
    assertEquals(2, json.get("shuffles").get(2).get("registered").asInt());
    assertEquals("RDMA is allowed", json.get("application").get("mode").asText());
  }
}
