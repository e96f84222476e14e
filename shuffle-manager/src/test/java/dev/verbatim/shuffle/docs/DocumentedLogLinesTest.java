package dev.verbatim.shuffle.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Log lines are quoted as the code prints them. In a block {@code log} three dots stand for a
 * value, and {@code […]} for text that another part of the code puts there. A block {@code text}
 * shows an example: its log lines have the form of a quoted one.
 */
class DocumentedLogLinesTest {
  private static final String GAP = "[…]";
  private static final Pattern EXAMPLE = Pattern.compile("(?:INFO|WARN|ERROR) \\w+: (.*)");

  private static final Pattern SENTENCE =
      Pattern.compile("(?!rdma )[a-z][a-z',;:.]*( [a-z.',;:]+){2,}");

  /** Joins what Java concatenates, and puts three dots for values. */
  private static final List<Rewriting> REWRITINGS =
      List.of(
          new Rewriting("\"\\s*\\.formatted\\([^\"]*\\)\\s*\\+\\s*\"", ""),
          new Rewriting("\"\\s*\\+\\s*\"", ""),
          new Rewriting("\"\\s*\\+\\s*[^\";]+\\+\\s*\"", "..."),
          new Rewriting("\"\\s*\\+\\s*(?=[^\\s\"])", "..."),
          new Rewriting("\\{\\}|%[sd]", "..."));

  private record Rewriting(String pattern, String replacement) {}

  @Test
  void shouldBePrintedByTheCodeWhenALogLineIsQuoted() {
    String printed =
        Repository.mainCode().map(DocumentedLogLinesTest::rewrite).collect(Collectors.joining());

    List<String> quoted = quoted().toList();
    List<String> sentences =
        Repository.page("docs/troubleshooting.md").code().stream()
            .filter(code -> SENTENCE.matcher(code).matches())
            .toList();
    assertTrue(quoted.size() > 10, quoted::toString);
    assertTrue(sentences.size() > 10, sentences::toString);
    assertEquals(
        List.of(),
        Stream.concat(quoted.stream(), sentences.stream())
            .flatMap(line -> Stream.of(line.split(Pattern.quote(GAP))))
            .map(part -> part.replaceAll("^[ .,;:]*|[ .,;:]*$", ""))
            .filter(part -> !printed.contains(part))
            .toList());
  }

  @Test
  void shouldHaveTheFormOfAQuotedLineWhenALogLineIsShown() {
    List<Pattern> forms = quoted().map(DocumentedLogLinesTest::form).toList();
    List<String> shown =
        blocks("text")
            .flatMap(text -> text.lines())
            .flatMap(line -> EXAMPLE.matcher(line).results())
            .map(example -> example.group(1))
            .toList();

    assertTrue(shown.size() >= 3, shown::toString);
    assertEquals(
        List.of(),
        shown.stream()
            .filter(line -> forms.stream().noneMatch(form -> form.matcher(line).matches()))
            .toList());
  }

  private static Stream<String> quoted() {
    return blocks("log").flatMap(String::lines);
  }

  private static Stream<String> blocks(String language) {
    return Repository.pages().stream()
        .flatMap(page -> page.blocks().stream())
        .filter(block -> block.language().equals(language))
        .map(Page.Block::text);
  }

  private static String rewrite(String code) {
    String text = code;
    for (Rewriting rewriting : REWRITINGS) {
      text = text.replaceAll(rewriting.pattern(), rewriting.replacement());
    }
    return text;
  }

  private static Pattern form(String quoted) {
    return Pattern.compile(
        Stream.of(quoted.replace(GAP, "...").split("\\.\\.\\.", -1))
            .map(Pattern::quote)
            .collect(Collectors.joining(".*")));
  }
}
