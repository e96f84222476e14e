package dev.verbatim.shuffle.ui;

import java.util.Comparator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** Columns of the table of executors. */
final class ExecutorColumns {
  /** Executors have numbers for ids, but for the driver's and the one that stands for many. */
  private static final Comparator<String> BY_NUMBER =
      Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder());

  private ExecutorColumns() {}

  /**
   * In their order.
   *
   * @param address of an executor, by its id; may throw when it is not known
   */
  static List<Column<ExecutorRow>> all(Function<String, String> address) {
    return List.of(
        new Column<>(
            "Executor ID",
            "Spark's id of the executor",
            Comparator.comparing(ExecutorRow::id, BY_NUMBER),
            row -> Tag.text("td", row.id())),
        new Column<>(
            "Address",
            "Host and port of its block manager",
            null, // it is looked up for the rows that are shown alone
            row -> Tag.text("td", known(address, row.id()))),
        Column.text(
            "Status", "Dead once Spark has lost it", row -> row.living() ? "Active" : "Dead"),
        new Column<>(
            "Device",
            "The RDMA device and its port, or why RDMA is off",
            Comparator.comparing(ExecutorRow::device).thenComparing(ExecutorRow::mode),
            row ->
                Tag.of("td")
                    .with("title", row.mode())
                    .add(row.device().isEmpty() ? row.mode() : row.device())
                    .node()),
        Column.text(
            "Port State", "New fetches use RDMA while it is PORT_ACTIVE", ExecutorRow::port),
        Column.bytes(
            "Registered", "Bytes registered for map outputs now", ExecutorRow::registeredBytes),
        Column.number("Regions", "Memory regions of map outputs now", ExecutorRow::regions),
        Column.bytes(
            "Read by RDMA", "Remote blocks that came by RDMA READ", ExecutorRow::bytesByRdma),
        Column.number("RDMA Blocks", "How many blocks these were", ExecutorRow::blocksByRdma),
        Column.bytes(
            "Read by TCP",
            "Remote blocks that came by Spark's own transfer",
            ExecutorRow::bytesByTcp),
        Column.number("TCP Blocks", "How many blocks these were", ExecutorRow::blocksByTcp),
        Column.reasons("Fallbacks", "Blocks left to TCP, by reason", ExecutorRow::fallbacks),
        Column.number("READs", "That ended well, of index entries too", ExecutorRow::reads),
        latencyColumn("READ Median", ExecutorRow::readMedianNanos),
        latencyColumn("READ 99 %", ExecutorRow::read99Nanos),
        latencyColumn("READ Most", ExecutorRow::readMostNanos));
  }

  private static Column<ExecutorRow> latencyColumn(
      String title, ToLongFunction<ExecutorRow> nanos) {
    return new Column<>(
        title,
        "Time from posting a batch of READs to its end, since the executor's start",
        Comparator.comparingLong(nanos),
        row ->
            Tag.of("td")
                .with("title", nanos.applyAsLong(row) + " ns")
                .with("class", "text-nowrap")
                .add(nanos.applyAsLong(row) == 0 ? "" : time(nanos.applyAsLong(row)))
                .node());
  }

  /** Spark keeps a bounded number of executors that are dead. */
  private static String known(Function<String, String> address, String executorId) {
    try {
      return address.apply(executorId);
    } catch (NoSuchElementException e) {
      return "";
    }
  }

  static String time(long nanos) {
    return nanos < 1_000_000
        ? "%.1f µs".formatted(nanos / 1e3)
        : nanos < 1_000_000_000
            ? "%.1f ms".formatted(nanos / 1e6)
            : "%.1f s".formatted(nanos / 1e9);
  }
}
