package dev.verbatim.shuffle.docs;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Text;
import org.commonmark.parser.IncludeSourceSpans;
import org.commonmark.parser.Parser;

/**
 * A page of the documentation, taken apart.
 *
 * @param text all of it
 * @param blocks fenced blocks
 * @param code code within text
 * @param links where links lead
 * @param anchors of headings, as GitHub makes them
 */
record Page(
    Path file,
    String text,
    List<Block> blocks,
    List<String> code,
    List<String> links,
    Set<String> anchors) {

  /**
   * A fenced block.
   *
   * @param language as named behind the fence
   * @param comment the HTML comment above it, with its marks, or empty
   */
  record Block(String where, String language, String text, String comment) {}

  static Page parse(Path file) {
    String text = Repository.read(file);
    Parser parser = Parser.builder().includeSourceSpans(IncludeSourceSpans.BLOCKS).build();
    Page page =
        new Page(
            file, text, new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new HashSet<>());
    parser.parse(text).accept(page.collector());
    return page;
  }

  String name() {
    return Repository.ROOT.relativize(file).toString();
  }

  /** What is set in the font of code: in the text, and in blocks. */
  Stream<String> allCode() {
    return Stream.concat(code.stream(), blocks.stream().map(Block::text));
  }

  private AbstractVisitor collector() {
    return new AbstractVisitor() {
      @Override
      public void visit(FencedCodeBlock block) {
        int line = block.getSourceSpans().getFirst().getLineIndex() + 1;
        String comment = block.getPrevious() instanceof HtmlBlock html ? html.getLiteral() : "";
        blocks.add(
            new Block(name() + ":" + line, block.getInfo(), block.getLiteral(), comment.strip()));
      }

      @Override
      public void visit(Code inline) {
        code.add(inline.getLiteral());
      }

      @Override
      public void visit(Link link) {
        links.add(link.getDestination());
        visitChildren(link);
      }

      @Override
      public void visit(Heading heading) {
        anchors.add(anchor(heading));
        visitChildren(heading);
      }
    };
  }

  private static String anchor(Heading heading) {
    return words(heading).toLowerCase(Locale.ROOT).replaceAll("[^\\w -]", "").replace(' ', '-');
  }

  private static String words(Node node) {
    if (node instanceof Text text) {
      return text.getLiteral();
    }
    if (node instanceof Code inline) {
      return inline.getLiteral();
    }
    return Stream.iterate(node.getFirstChild(), child -> child != null, Node::getNext)
        .map(Page::words)
        .collect(Collectors.joining());
  }
}
