package dev.verbatim.shuffle.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The checkout that these tests run in, to look up what the documentation names. */
final class Repository {
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final List<String> MODULES =
      List.of("rdma-transport", "shuffle-manager", "examples", "integration-tests");

  private Repository() {}

  /** README.md, all pages of docs/, and those of modules. */
  static List<Page> pages() {
    Stream<Path> others =
        Stream.of("README.md", "examples/README.md", "integration-tests/README.md")
            .map(ROOT::resolve);
    return Stream.concat(others, docs()).map(Page::parse).toList();
  }

  static Stream<Path> docs() {
    return files(ROOT.resolve("docs"), file -> file.toString().endsWith(".md")).stream();
  }

  static Page page(String name) {
    return Page.parse(ROOT.resolve(name));
  }

  /** Whether a file or folder is there; the name may have wildcards. */
  static boolean has(String name) {
    if (!name.contains("*")) {
      return Files.exists(ROOT.resolve(name));
    }
    PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + ROOT.resolve(name));
    Path folder = ROOT.resolve(name.substring(0, name.lastIndexOf('/', name.indexOf('*'))));
    return !files(folder, matcher::matches).isEmpty();
  }

  /** The content of all files of conf/. */
  static Stream<String> templates() {
    return files(ROOT.resolve("conf"), file -> true).stream().map(Repository::read);
  }

  /** The Java code of the product, without tests. */
  static Stream<String> mainCode() {
    return Stream.of("rdma-transport", "shuffle-manager")
        .flatMap(module -> java(module + "/src/main/java"))
        .map(Repository::read);
  }

  static List<Path> testFiles() {
    return MODULES.stream().flatMap(module -> java(module + "/src/test/java")).toList();
  }

  /** Everything that may define a name in capitals: all code, scripts and the C of the stand-in. */
  static String allCode() {
    Stream<Path> java =
        MODULES.stream()
            .flatMap(module -> java(module + "/src"))
            // The tests of the documentation have names of others.
            .filter(file -> !file.getParent().endsWith("dev/verbatim/shuffle/docs"));
    Stream<Path> others =
        Stream.of("scripts", "integration-tests/stand-in", "integration-tests/guest")
            .flatMap(folder -> files(ROOT.resolve(folder), file -> true).stream())
            .filter(file -> !file.toString().contains("/stand-in/build/"));
    return Stream.concat(java, others).map(Repository::read).collect(Collectors.joining("\n"));
  }

  static String poms() {
    return Stream.concat(Stream.of(""), MODULES.stream())
        .map(module -> read(ROOT.resolve(module).resolve("pom.xml")))
        .collect(Collectors.joining("\n"));
  }

  private static Stream<Path> java(String folder) {
    return files(ROOT.resolve(folder), file -> file.toString().endsWith(".java")).stream();
  }

  private static List<Path> files(Path folder, Predicate<Path> wanted) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).filter(wanted).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
