package dev.verbatim.examples;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * All rows of a query as texts that say exactly what the values are.
 *
 * @param types SQL types of the columns, such as {@code decimal(7,2)}
 * @param rows cells in column order, null for NULL
 */
record JobResult(List<String> types, List<List<String>> rows) {

  static JobResult of(StructType schema, List<Row> rows) {
    List<String> types = new ArrayList<>();
    for (StructField field : schema.fields()) {
      types.add(field.dataType().catalogString());
    }
    return new JobResult(types, rows.stream().map(JobResult::texts).toList());
  }

  private static List<String> texts(Row row) {
    List<String> texts = new ArrayList<>(row.size());
    for (int i = 0; i < row.size(); i++) {
      Object value = row.get(i);
      texts.add(
          switch (value) {
            case null -> null;
            case BigDecimal decimal -> decimal.toPlainString();
            default -> value.toString();
          });
    }
    return texts;
  }

  boolean isFloating(int column) {
    return types.get(column).equals("double") || types.get(column).equals("float");
  }
}
