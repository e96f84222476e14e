package dev.verbatim.shuffle.ui;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Rows to show and to tell. */
final class Rows {
  private Rows() {}

  static ExecutorRow executor(String id, long bytesByRdma) {
    return executor(id, bytesByRdma, "rxe0 port 1 (RoCE v2)", "RDMA on: device rxe0");
  }

  static ExecutorRow executor(String id, long bytesByRdma, String device, String mode) {
    return new ExecutorRow(
        id,
        true,
        device,
        mode,
        "PORT_ACTIVE",
        1 << 20,
        3,
        bytesByRdma,
        bytesByRdma / 10,
        2048,
        2,
        Map.of("READ_FAILED", 2L),
        77,
        12_300,
        4_560_000,
        7_890_000_000L);
  }

  static ShuffleRow shuffle(int id, long registered) {
    return new ShuffleRow(id, true, registered, registered * 1024, Map.of("MEMLOCK", 4L));
  }

  static RdmaStatus status(List<ExecutorRow> executors, List<ShuffleRow> shuffles) {
    return new RdmaStatus(
        new ApplicationRow("RDMA is allowed", executor("total", 1000)), executors, shuffles);
  }

  /** So many executors and shuffles; what each has counted depends on the number too. */
  static RdmaStatus many(int count) {
    return status(
        IntStream.range(0, count).mapToObj(i -> executor("" + i, 10L * i)).toList(),
        IntStream.range(0, count).mapToObj(i -> shuffle(i, i)).toList());
  }
}
