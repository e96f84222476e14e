package dev.verbatim.shuffle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DependencyDirectionTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/verbatim/shuffle");
  private static final Pattern IMPORT =
      Pattern.compile(
          "^import (?:static )?dev\\.verbatim\\.shuffle\\.([a-z]+)\\.", Pattern.MULTILINE);

  /** A package may use those after it. */
  private static final List<String> ORDER =
      List.of("doctor", "writer", "registry", "reader", "ui", "metrics", "fallback", "conf");

  @Test
  void shouldOnlyDependDownwardsWhenPackagesAreOrdered() throws IOException {
    List<String> wrong = new ArrayList<>();
    int seen = 0;
    for (Path file : sources()) {
      int from = ORDER.indexOf(SOURCES.relativize(file).getName(0).toString());
      Matcher imports = IMPORT.matcher(Files.readString(file));
      while (imports.find()) {
        seen++;
        if (ORDER.indexOf(imports.group(1)) < from) {
          wrong.add(file.getFileName() + " uses " + imports.group(1));
        }
      }
    }

    assertTrue(seen > 50, "imports were found");
    assertEquals(List.of(), wrong);
  }

  @Test
  void shouldBelongToAnOrderedPackageWhenItIsNotInTheRoot() throws IOException {
    for (Path file : sources()) {
      Path relative = SOURCES.relativize(file);
      assertTrue(
          relative.getNameCount() == 1 || ORDER.contains(relative.getName(0).toString()),
          relative::toString);
    }
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList();
    }
  }
}
