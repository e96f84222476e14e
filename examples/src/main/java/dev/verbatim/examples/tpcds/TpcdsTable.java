package dev.verbatim.examples.tpcds;

import io.trino.tpcds.Results;
import io.trino.tpcds.Session;
import io.trino.tpcds.Table;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.StreamSupport;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/** One TPC-DS table at one scale, cut into ranges that can be generated apart from each other. */
final class TpcdsTable {
  /** Large enough to make the start of a range (skipping random numbers) cheap beside it. */
  private static final long ROWS_PER_RANGE = 50_000;

  private final Table table;
  private final Session session;

  TpcdsTable(String name, double scale) {
    this.table = Table.getTable(name);
    // The table itself, also where it is a child: with its parent one would get the parent's rows.
    this.session = Session.getDefaultSession().withScale(scale).withTable(table);
  }

  /**
   * First and last row numbers (from 1, both included) of consecutive ranges over the whole table.
   * For returns they number the sales, for sales the orders.
   */
  List<long[]> ranges() {
    return ranges(ROWS_PER_RANGE);
  }

  List<long[]> ranges(long rowsPerRange) {
    long rows = session.getScaling().getRowCount(table.isChild() ? table.getParent() : table);
    // A row of a table that keeps history may repeat values of the row before it.
    long perRange = table.keepsHistory() ? Math.max(rows, 1) : rowsPerRange;
    List<long[]> ranges = new ArrayList<>();
    for (long first = 1; first <= rows; first += perRange) {
      ranges.add(new long[] {first, Math.min(rows, first + perRange - 1)});
    }
    return ranges;
  }

  /** The rows of one of the ranges, always the same ones in the same order. */
  Iterator<Row> rows(long[] range, StructType schema) {
    RowConverter converter = new RowConverter(schema);
    return StreamSupport.stream(
            Results.constructResults(table, range[0], range[1], session).spliterator(), false)
        .flatMap(List::stream)
        .map(converter::convert)
        .iterator();
  }
}
