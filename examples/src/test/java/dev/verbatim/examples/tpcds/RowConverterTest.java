package dev.verbatim.examples.tpcds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.sql.Date;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

class RowConverterTest {
  private static final StructType SCHEMA =
      StructType.fromDDL("i INT, l BIGINT, s STRING, d DATE, m DECIMAL(7,2)");

  private final RowConverter converter = new RowConverter(SCHEMA);

  @Test
  void shouldMakeEachTypeWhenTextsAreGiven() {
    assertEquals(
        RowFactory.create(
            7, 5_000_000_000L, "a b", Date.valueOf("1998-01-02"), new BigDecimal("-12345.60")),
        converter.convert(List.of("7", "5000000000", "a b", "1998-01-02", "-12345.6")));
  }

  @Test
  void shouldMakeNullWhenATextIsNull() {
    var row = converter.convert(Arrays.asList(null, null, null, null, null));
    assertEquals(5, row.size());
    assertTrue(row.isNullAt(0) && row.isNullAt(1) && row.isNullAt(2));
    assertTrue(row.isNullAt(3) && row.isNullAt(4));
  }

  @Test
  void shouldKeepTheEmptyTextWhenItIsNotNull() {
    assertEquals("", converter.convert(Arrays.asList("1", "2", "", null, null)).get(2));
  }

  @Test
  void shouldNameTheColumnWhenATextDoesNotFit() {
    for (List<String> bad :
        List.of(
            Arrays.asList("x", null, null, null, null),
            Arrays.asList(null, null, null, "1998-13-77x", null),
            Arrays.asList(null, null, null, null, "123456.78"),
            Arrays.asList(null, null, null, null, "1.234"))) {
      var error = assertThrows(IllegalArgumentException.class, () -> converter.convert(bad));
      assertTrue(error.getMessage().startsWith("Column "), error.getMessage());
    }
  }

  @Test
  void shouldRefuseWhenTheNumberOfColumnsDiffers() {
    assertThrows(IllegalArgumentException.class, () -> converter.convert(List.of("1")));
  }
}
