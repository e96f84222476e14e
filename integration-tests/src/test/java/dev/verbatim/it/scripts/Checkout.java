package dev.verbatim.it.scripts;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;

/** A copy of this repository, or of parts of it, without anything that was built. */
final class Checkout {
  private Checkout() {}

  /** Copies these files and folders, named from the root, to below a folder. */
  static Path of(Path folder, String... parts) throws IOException {
    for (String part : parts) {
      Files.walkFileTree(Script.ROOT.resolve(part), new Copying(folder));
    }
    return folder;
  }

  private static final class Copying extends SimpleFileVisitor<Path> {
    private final Path folder;

    Copying(Path folder) {
      this.folder = folder;
    }

    @Override
    public FileVisitResult preVisitDirectory(Path source, BasicFileAttributes attributes) {
      return source.endsWith("target") ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path source, BasicFileAttributes attributes)
        throws IOException {
      Path copy = folder.resolve(Script.ROOT.relativize(source).toString());
      Files.createDirectories(copy.getParent());
      Files.copy(source, copy, StandardCopyOption.COPY_ATTRIBUTES);
      return FileVisitResult.CONTINUE;
    }
  }
}
