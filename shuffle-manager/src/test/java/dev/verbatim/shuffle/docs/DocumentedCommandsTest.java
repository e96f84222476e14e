package dev.verbatim.shuffle.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.docs.Page.Block;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Blocks of commands say by a comment above them what they need, {@code <!-- needs: NIC -->}, or
 * that they run anywhere, {@code <!-- runs -->}; the latter are run here.
 */
class DocumentedCommandsTest {
  private static final String RUNS = "<!-- runs -->";
  private static final Pattern DECISION = Pattern.compile("<!-- (runs|needs: [^>]+) -->");

  /** The page whose program in Java a test of the transport compiles and runs. */
  private static final String PROGRAM = "docs/transport-library.md:";

  private static final Set<String> LANGUAGES =
      Set.of("", "sh", "log", "text", "properties", "xml", "yaml", "ini", "json");

  @TempDir private Path output;

  private static Stream<Block> blocks() {
    return Repository.pages().stream().flatMap(page -> page.blocks().stream());
  }

  @Test
  void shouldSayWhetherItRunsWhenABlockHasCommands() {
    assertEquals(
        List.of(),
        blocks()
            .filter(block -> block.language().equals("sh"))
            .filter(block -> !DECISION.matcher(block.comment()).matches())
            .map(Block::where)
            .toList());
  }

  @Test
  void shouldNameALanguageThatIsCheckedWhenItIsABlock() {
    assertEquals(
        List.of(),
        blocks()
            .filter(block -> !LANGUAGES.contains(block.language()))
            .filter(block -> !block.language().equals("java") || !block.where().startsWith(PROGRAM))
            .map(Block::where)
            .toList());
  }

  @TestFactory
  Stream<DynamicTest> shouldSucceedWhenItRunsAnywhere() {
    List<Block> commands = blocks().filter(block -> block.comment().equals(RUNS)).toList();
    assertTrue(commands.size() >= 5, () -> "only " + commands);
    return commands.stream()
        .map(block -> DynamicTest.dynamicTest(block.where(), () -> assertRuns(block)));
  }

  private void assertRuns(Block block) throws IOException, InterruptedException {
    Path log = Files.createTempFile(output, "block", ".log");
    ProcessBuilder bash =
        new ProcessBuilder("bash", "-euo", "pipefail", "-c", block.text())
            .directory(Repository.ROOT.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    bash.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = bash.start();
    process.getOutputStream().close();
    boolean ended = process.waitFor(60, TimeUnit.SECONDS);
    process.destroyForcibly();

    assertTrue(ended, () -> block.where() + " does not end");
    assertEquals(0, process.exitValue(), () -> block.text() + Repository.read(log));
  }

  @Test
  void shouldBeTakenWhenSettingsAreShown() {
    Stream<String> shown =
        blocks().filter(block -> block.language().equals("properties")).map(Block::text);
    String template =
        Repository.read(Repository.ROOT.resolve("conf/spark-defaults.conf"))
            // With those that are commented out.
            .replaceAll("(?m)^# (?=spark\\.)", "");

    List<String> taken =
        Stream.concat(shown, Stream.of(template))
            .peek(DocumentedCommandsTest::assertTaken)
            .filter(settings -> settings.contains(RdmaConf.SPARK_PREFIX))
            .toList();
    assertTrue(taken.size() >= 2, taken::toString);
  }

  private static void assertTaken(String settings) {
    Properties properties = new Properties();
    try {
      properties.load(new StringReader(settings));
    } catch (IOException e) {
      throw new IllegalArgumentException(settings, e);
    }
    SparkConf conf = new SparkConf(false);
    properties.forEach((key, value) -> conf.set((String) key, (String) value));
    assertEquals(List.of(), RdmaConf.load(conf).warnings());
  }
}
