package dev.verbatim.shuffle.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.shuffle.doctor.ExamineHost;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page of the doctor lists its checks, in the order in which they run. */
class DocumentedChecksTest {
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z-]+)` \\|");

  @Test
  void shouldListAllChecksOfTheDoctor() {
    String page = Repository.read(Repository.ROOT.resolve("docs/doctor.md"));

    List<String> listed = ROW.matcher(page).results().map(row -> row.group(1)).toList();

    assertEquals(ExamineHost.checks(), listed);
  }
}
