package dev.verbatim.examples.tpcds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TpcdsTableTest {
  private static final double SCALE = 0.01;
  private static Map<String, StructType> schemas;

  @BeforeAll
  static void readSchemas() throws IOException {
    schemas = new TpcdsJar(Path.of("target/tpcds/spark-sql-tests.jar")).schemas();
  }

  private static List<Row> rows(String table, long rowsPerRange) {
    TpcdsTable generator = new TpcdsTable(table, SCALE);
    List<Row> rows = new ArrayList<>();
    for (long[] range : generator.ranges(rowsPerRange)) {
      new TpcdsTable(table, SCALE).rows(range, schemas.get(table)).forEachRemaining(rows::add);
    }
    return rows;
  }

  @Test
  void shouldGiveTheSameRowsWhenATableIsCutIntoRanges() {
    for (String table : List.of("store_sales", "catalog_returns", "web_sales", "customer")) {
      assertTrue(new TpcdsTable(table, SCALE).ranges(97).size() > 3, table);
      assertEquals(rows(table, Long.MAX_VALUE / 2), rows(table, 97), table);
    }
  }

  @Test
  void shouldKeepATableInOnePieceWhenItsRowsDependOnThoseBefore() {
    for (String table : List.of("item", "store", "call_center", "web_site", "web_page")) {
      assertEquals(1, new TpcdsTable(table, SCALE).ranges(1).size(), table);
    }
  }

  @Test
  void shouldFitEverySchemaWhenAllTablesAreGenerated() {
    for (String table : schemas.keySet()) {
      TpcdsTable generator = new TpcdsTable(table, SCALE);
      var rows = generator.rows(generator.ranges().getFirst(), schemas.get(table));
      int count = 0;
      while (rows.hasNext() && count < 1000) {
        assertEquals(schemas.get(table).size(), rows.next().size(), table);
        count++;
      }
      assertTrue(count > 0, table);
    }
    assertEquals(24, schemas.size());
  }
}
