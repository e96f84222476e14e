package dev.verbatim.examples;

/**
 * A shuffle manager to run queries under.
 *
 * @param label short name
 * @param className what Spark resolves {@code spark.shuffle.manager} to
 */
record ShuffleChoice(String label, String className) {
  private static final String SORT = "org.apache.spark.shuffle.sort.SortShuffleManager";
  private static final String VERBATIM = "dev.verbatim.shuffle.RdmaShuffleManager";

  /**
   * @param name {@code sort}, {@code verbatim} or a class name
   */
  static ShuffleChoice parse(String name) {
    return switch (name) {
      case "sort" -> new ShuffleChoice(name, SORT);
      case "verbatim" -> new ShuffleChoice(name, VERBATIM);
      default -> new ShuffleChoice(name.substring(name.lastIndexOf('.') + 1), name);
    };
  }
}
