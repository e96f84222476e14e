package dev.verbatim.examples.tpcds;

import java.math.BigDecimal;
import java.sql.Date;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Turns the generator's texts into rows of a table's types. */
final class RowConverter {
  private final StructField[] fields;

  RowConverter(StructType schema) {
    this.fields = schema.fields();
  }

  /**
   * @param texts one per column, null for NULL
   * @throws IllegalArgumentException if the number of texts or a text does not fit the schema; the
   *     message names the column
   */
  Row convert(List<String> texts) {
    if (texts.size() != fields.length) {
      throw new IllegalArgumentException(
          "The generator gave " + texts.size() + " values for " + fields.length + " columns");
    }
    Object[] values = new Object[fields.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = convert(fields[i], texts.get(i));
    }
    return RowFactory.create(values);
  }

  private static Object convert(StructField field, String text) {
    if (text == null) {
      return null;
    }
    DataType type = field.dataType();
    try {
      return switch (type) {
        case StringType _ -> text;
        case IntegerType _ -> Integer.valueOf(text);
        case LongType _ -> Long.valueOf(text);
        case DateType _ -> Date.valueOf(text);
        case DecimalType decimal -> decimal(decimal, text);
        default -> throw new IllegalArgumentException("no conversion to " + type.sql());
      };
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException(
          "Column " + field.name() + " " + type.sql() + " cannot hold '" + text + "'", e);
    }
  }

  private static BigDecimal decimal(DecimalType type, String text) {
    BigDecimal value = new BigDecimal(text).setScale(type.scale());
    if (value.precision() > type.precision()) {
      throw new ArithmeticException("precision " + value.precision());
    }
    return value;
  }
}
