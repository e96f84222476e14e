package dev.verbatim.examples.tpcds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

class TpcdsJarTest {
  private final TpcdsJar jar = new TpcdsJar(Path.of("target/tpcds/spark-sql-tests.jar"));

  @Test
  void shouldReadTypesWhenATableIsDefined() throws IOException {
    var sales = jar.schemas().get("store_sales");
    assertEquals(23, sales.size());
    assertEquals(DataTypes.createDecimalType(7, 2), sales.apply("ss_list_price").dataType());
    assertEquals(DataTypes.IntegerType, sales.apply("ss_item_sk").dataType());
    var days = jar.schemas().get("date_dim");
    assertEquals(DataTypes.DateType, days.apply("d_date").dataType());
    assertEquals(DataTypes.StringType, days.apply("d_day_name").dataType());
  }

  @Test
  void shouldFindItsTablesWhenAQueryIsRead() throws IOException {
    Set<String> known = jar.schemas().keySet();
    assertEquals(
        Set.of("store_sales", "item", "date_dim"), TpcdsJar.tablesOf(jar.query("q3"), known));
    assertEquals(
        Set.of("store_returns", "customer", "date_dim", "store"),
        TpcdsJar.tablesOf(jar.query("q1"), known));
  }

  @Test
  void shouldNotTakeAColumnForATableWhenItsNameOnlyContainsOne() {
    assertEquals(
        Set.of("item"), TpcdsJar.tablesOf("SELECT store_id FROM ITEM", Set.of("item", "store")));
  }

  @Test
  void shouldListAllQueriesInOrderWhenAskedForNames() throws IOException {
    var names = jar.queryNames();
    assertEquals("q1", names.getFirst());
    assertEquals("q99", names.getLast());
    assertEquals(103, names.size());
  }

  @Test
  void shouldNameTheQueriesWhenOneDoesNotExist() {
    var error = assertThrows(IllegalArgumentException.class, () -> jar.query("q100"));
    assertTrue(error.getMessage().contains("q14a, q14b"), error.getMessage());
  }
}
