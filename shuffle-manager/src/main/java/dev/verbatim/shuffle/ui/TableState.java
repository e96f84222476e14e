package dev.verbatim.shuffle.ui;

import jakarta.servlet.http.HttpServletRequest;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Which part of a table is shown in which order, as the page's address says. What it says that
 * cannot be is taken for not said.
 *
 * @param tag prefix of its parameters in the address
 * @param sort title of the column that orders the rows
 * @param desc whether the largest come first
 * @param page from 1
 * @param pageSize rows, from 1 to {@value #MOST_ROWS}
 */
record TableState(String tag, String sort, boolean desc, int page, int pageSize) {
  static final int MOST_ROWS = 1000;
  private static final int ROWS = 100;

  /**
   * As a request says.
   *
   * @param columns the first one orders the rows when nothing is said
   */
  static TableState of(HttpServletRequest request, String tag, List<? extends Column<?>> columns) {
    String said = request.getParameter(tag + ".sort");
    String sort =
        columns.stream()
            .filter(Column::isSortable)
            .map(Column::title)
            .filter(title -> title.equals(said))
            .findFirst()
            .orElse(columns.getFirst().title());
    return new TableState(
        tag,
        sort,
        Boolean.parseBoolean(request.getParameter(tag + ".desc")),
        number(request, tag + ".page", 1, Integer.MAX_VALUE),
        number(request, tag + ".pageSize", ROWS, MOST_ROWS));
  }

  private static int number(HttpServletRequest request, String name, int unsaid, int most) {
    try {
      return Math.clamp(Long.parseLong(request.getParameter(name)), 1, most);
    } catch (NumberFormatException e) {
      return unsaid;
    }
  }

  /** The order, for an address. */
  String order() {
    return "&%s.sort=%s&%s.desc=%b"
        .formatted(tag, URLEncoder.encode(sort, StandardCharsets.UTF_8), tag, desc);
  }

  /** All of it, for an address. */
  String query() {
    return order() + "&%s.page=%d&%s.pageSize=%d".formatted(tag, page, tag, pageSize);
  }
}
