package dev.verbatim.shuffle.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.conf.RdmaConf;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the documentation names is there: files, options, settings, reasons, tests. */
class DocumentedNamesTest {
  private static final List<Page> PAGES = Repository.pages();

  private static final Pattern FILE =
      Pattern.compile(
          "(?<![\\w./$-])(?:docs|conf|scripts|examples|integration-tests|shuffle-manager"
              + "|rdma-transport)/[\\w./*-]*[\\w/*]");
  private static final Pattern SCRIPT = Pattern.compile("(?<![\\w./-])(scripts/[\\w-]+)( [^\n]*)");
  private static final Pattern OPTION = Pattern.compile("(?<= )--[a-z][a-z-]*");
  private static final Pattern OWN_KEY =
      Pattern.compile("(?<![\\w.])(?:spark\\.shuffle\\.)?rdma\\.[a-z][\\w.]*\\b(?!\\.xml)");
  private static final Pattern SPARK_KEY =
      Pattern.compile("(?<![\\w./])spark\\.(?!shuffle\\.rdma)[a-z]\\w*(?:\\.\\w+)+(?!\\.\\*|\\w)");
  private static final Pattern CAPITALS = Pattern.compile("\\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\\b");
  private static final Pattern TEST_CLASS =
      Pattern.compile("(?<![-*\\w])(?:\\.{3})?[A-Z]\\w+Tests?\\b");
  private static final Pattern BUILD_PROPERTY = Pattern.compile("(?<= -D|^-D)[a-z][\\w.]*");
  private static final Pattern TEST_METHOD = Pattern.compile("\\bshould[A-Z]\\w+");

  /** Properties that Maven's own plugins take. */
  private static final Set<String> OF_MAVEN =
      Set.of("test", "skipTests", "surefire.failIfNoSpecifiedTests");

  /** Names in capitals that other software defines. */
  private static final Set<String> OTHERS =
      Set.of("SPARK_HOME", "SPARK_DAEMON_CLASSPATH", "HADOOP_CONF_DIR");

  @Test
  void shouldLeadSomewhereWhenThereIsALink() {
    List<String> dead =
        PAGES.stream()
            .flatMap(
                page ->
                    page.links().stream()
                        .filter(link -> !link.startsWith("https://") && !leads(page, link))
                        .map(link -> page.name() + ": " + link))
            .toList();

    assertEquals(List.of(), dead);
  }

  private static boolean leads(Page from, String link) {
    String[] parts = link.split("#", 2);
    Path target = parts[0].isEmpty() ? from.file() : from.file().resolveSibling(parts[0]);
    if (!Files.exists(target)) {
      return false;
    }
    return parts.length == 1 || Page.parse(target.normalize()).anchors().contains(parts[1]);
  }

  @Test
  void shouldBeInTheIndexWhenThereIsAPage() {
    List<String> index = Repository.page("docs/README.md").links();

    assertEquals(
        List.of(),
        Repository.docs()
            .map(page -> page.getFileName().toString())
            .filter(page -> !page.equals("README.md") && !index.contains(page))
            .toList());
  }

  @Test
  void shouldExistWhenAFileIsNamed() {
    assertAll(
        20,
        page -> find(FILE, page.allCode()).filter(file -> !file.contains("/target/")),
        Repository::has);
  }

  @Test
  void shouldBeKnownToTheScriptWhenAnOptionIsNamed() {
    assertAll(
        5,
        page ->
            page.allCode()
                .flatMap(code -> SCRIPT.matcher(code.replace("\\\n", " ")).results())
                .flatMap(DocumentedNamesTest::options),
        use -> {
          String[] scriptAndOption = use.split(" ");
          Path script = Repository.ROOT.resolve(scriptAndOption[0]);
          return Pattern.compile(Pattern.quote(scriptAndOption[1]) + "\\b")
              .matcher(Repository.read(script))
              .find();
        });
  }

  /** Those of the script itself, not those of a command that it is to run. */
  private static Stream<String> options(MatchResult use) {
    String arguments = use.group(2).replaceAll("'[^']*'|\"[^\"]*\"|#.*", "").split(" -- ")[0];
    return find(OPTION, Stream.of(arguments)).map(option -> use.group(1) + " " + option);
  }

  @Test
  void shouldBeKnownWhenASettingIsNamed() {
    Set<String> known =
        RdmaConf.entries().stream()
            .flatMap(entry -> Stream.of(entry.sparkKey(), entry.siteKey()))
            .collect(Collectors.toSet());

    assertAll(20, page -> find(OWN_KEY, Stream.of(page.text())), known::contains);
    List<String> ofTemplates = find(OWN_KEY, Repository.templates()).toList();
    assertTrue(ofTemplates.contains("rdma.trafficClass"), ofTemplates::toString);
    assertEquals(List.of(), ofTemplates.stream().filter(key -> !known.contains(key)).toList());
  }

  @Test
  void shouldBeKnownToSparkWhenASettingOfSparkIsNamed() {
    SparkSettings settings = new SparkSettings();

    assertAll(30, page -> find(SPARK_KEY, Stream.of(page.text())), settings::has);
  }

  @Test
  void shouldBeDefinedSomewhereWhenANameInCapitalsIsUsed() {
    Set<String> defined =
        find(CAPITALS, Stream.of(Repository.allCode())).collect(Collectors.toSet());

    assertAll(
        50,
        page -> find(CAPITALS, page.allCode()),
        name -> defined.contains(name) || OTHERS.contains(name));
  }

  @Test
  void shouldBeKnownToTheBuildWhenAPropertyIsNamed() {
    String build = Repository.allCode() + Repository.poms();

    assertAll(
        5,
        page -> find(BUILD_PROPERTY, page.allCode()),
        name ->
            OF_MAVEN.contains(name)
                || build.contains("<" + name + ">")
                || build.contains("\"" + name + "\""));
  }

  @Test
  void shouldExistWhenATestIsNamed() {
    Set<String> classes =
        Repository.testFiles().stream()
            .map(file -> file.getFileName().toString().replace(".java", ""))
            .collect(Collectors.toSet());
    String methods =
        Repository.testFiles().stream().map(Repository::read).collect(Collectors.joining());

    assertAll(
        50,
        page -> find(TEST_CLASS, page.allCode()),
        name ->
            name.startsWith("...") // several that end so
                ? classes.stream().anyMatch(test -> test.endsWith(name.substring(3)))
                : classes.contains(name));
    assertAll(
        1, page -> find(TEST_METHOD, page.allCode()), name -> methods.contains("void " + name));
  }

  /**
   * @param least so many must be found, or the test has lost its eyes
   */
  private static void assertAll(
      int least, Function<Page, Stream<String>> names, Predicate<String> known) {
    List<String> unknown =
        PAGES.stream()
            .flatMap(
                page ->
                    names
                        .apply(page)
                        .distinct()
                        .filter(known.negate())
                        .map(name -> page.name() + ": " + name))
            .toList();

    assertEquals(List.of(), unknown);
    long seen = PAGES.stream().flatMap(names).count();
    assertTrue(seen >= least, () -> "only " + seen + " were seen");
  }

  private static Stream<String> find(Pattern pattern, Stream<String> texts) {
    return texts.flatMap(text -> pattern.matcher(text).results()).map(MatchResult::group);
  }
}
