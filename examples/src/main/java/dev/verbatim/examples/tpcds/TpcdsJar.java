package dev.verbatim.examples.tpcds;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.types.CharType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.VarcharType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The TPC-DS queries and table definitions that Spark keeps in its artifact of SQL tests.
 *
 * <p>They are read out of the file: on the class path that artifact would register test services.
 */
public final class TpcdsJar {
  private static final String SCHEMA_CLASS = "org.apache.spark.sql.TPCDSSchema";
  private static final String COLUMNS = "tableColumns";
  private static final Pattern QUERY_ENTRY = Pattern.compile("tpcds/(q\\d+[ab]?)\\.sql");
  private static final Pattern WORD = Pattern.compile("\\w+");

  private final Path file;

  /**
   * @param file spark-sql's jar with classifier {@code tests}, of the running Spark's version
   */
  public TpcdsJar(Path file) {
    this.file = file;
  }

  /**
   * The text of one query.
   *
   * @param name such as {@code q72} or {@code q14a}
   * @throws IllegalArgumentException if there is no such query; the message names those that exist
   */
  public String query(String name) throws IOException {
    try (JarFile jar = new JarFile(file.toFile())) {
      var entry = jar.getEntry("tpcds/" + name + ".sql");
      if (entry == null) {
        throw new IllegalArgumentException(
            "No TPC-DS query " + name + "; there are " + String.join(", ", queryNames()));
      }
      try (InputStream in = jar.getInputStream(entry)) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    }
  }

  /** The names of all queries, q1 first. */
  public List<String> queryNames() throws IOException {
    try (JarFile jar = new JarFile(file.toFile())) {
      return jar.stream()
          .map(entry -> QUERY_ENTRY.matcher(entry.getName()))
          .filter(Matcher::matches)
          .map(match -> match.group(1))
          .sorted(Comparator.comparingInt(TpcdsJar::number).thenComparing(name -> name))
          .toList();
    }
  }

  private static int number(String query) {
    return Integer.parseInt(query.replaceAll("\\D", ""));
  }

  /** The tables by name; CHAR and VARCHAR columns are plain strings, as Parquet has them. */
  public Map<String, StructType> schemas() throws IOException {
    Map<String, StructType> schemas = new TreeMap<>();
    definitions().forEach((table, ddl) -> schemas.put(table, withoutLengths(ddl)));
    return schemas;
  }

  /**
   * Runs the initialiser of the Scala trait that holds the definitions on a proxy, which needs no
   * class of ours compiled against it.
   */
  private Map<String, String> definitions() throws IOException {
    URL[] urls = {file.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(urls, TpcdsJar.class.getClassLoader())) {
      Class<?> schema = loader.loadClass(SCHEMA_CLASS);
      Map<String, String> columns = new TreeMap<>();
      InvocationHandler keepColumns =
          (proxy, method, arguments) -> {
            if (method.getName().endsWith("_setter_$" + COLUMNS + "_$eq")) {
              var map = (scala.collection.Map<?, ?>) arguments[0];
              CollectionConverters.asJava(map)
                  .forEach((table, ddl) -> columns.put((String) table, (String) ddl));
            }
            return null;
          };
      Object proxy = Proxy.newProxyInstance(loader, new Class<?>[] {schema}, keepColumns);
      schema.getMethod("$init$", schema).invoke(null, proxy);
      if (columns.isEmpty()) {
        throw new IOException(SCHEMA_CLASS + " of " + file + " sets no " + COLUMNS);
      }
      return columns;
    } catch (ReflectiveOperationException e) {
      throw new IOException("Cannot read " + SCHEMA_CLASS + " from " + file, e);
    }
  }

  private static StructType withoutLengths(String ddl) {
    StructType plain = new StructType();
    for (StructField field : StructType.fromDDL(ddl).fields()) {
      var type = field.dataType();
      boolean text = type instanceof CharType || type instanceof VarcharType;
      plain = plain.add(field.name(), text ? DataTypes.StringType : type, true);
    }
    return plain;
  }

  /**
   * The tables that a query may read: those of {@code known} whose name stands in it as a word. An
   * alias that is called like a table only adds one that is not needed.
   */
  public static Set<String> tablesOf(String query, Set<String> known) {
    Set<String> tables = new TreeSet<>();
    Matcher word = WORD.matcher(query);
    while (word.find()) {
      String name = word.group().toLowerCase(java.util.Locale.ROOT);
      if (known.contains(name)) {
        tables.add(name);
      }
    }
    return tables;
  }
}
