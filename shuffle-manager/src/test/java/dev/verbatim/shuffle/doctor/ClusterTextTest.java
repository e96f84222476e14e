package dev.verbatim.shuffle.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.Test;
import scala.Option;

class ClusterTextTest {
  private static Report executor(int id, Report report) {
    return report.of(BlockManagerId.apply(String.valueOf(id), "node" + id, 7077, Option.empty()));
  }

  @Test
  void shouldShowOneTableAndEachFindingOnce() {
    Report healthy = Patient.roce().examine("jdk", "port-state");
    Report down =
        Patient.roce()
            .file("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN")
            .examine("jdk", "port-state");
    List<Report> executors = new ArrayList<>();
    for (int id = 0; id < 12; id++) {
      executors.add(executor(id, id < 3 ? healthy : down));
    }
    Findings pairs = new Findings(PairTrial.CHECK);
    pairs.ok("0@node0 reads from 1@node1", "READ of 64 B 2.1 us");

    String text = ClusterText.of(ClusterReport.of(executors, pairs.all()));

    assertEquals(
        """
        12 executors: PROBLEM

          check              OK  UNKNOWN  WARNING  PROBLEM  not OK on
          jdk                12
          port-state          3                          9  3@node3 4@node4 5@node5 6@node6 7@node7 8@node8 and 3 more

        3@node3 4@node4 5@node5 6@node6 7@node7 8@node8 and 3 more
          PROBLEM  port-state      mlx5_0 port 1: 1: DOWN, link 5: LinkUp, RoCE (Ethernet)
                                   needed: PORT_ACTIVE
                                   cure: ip link set eth0 up; then cable and switch port

          OK       pair            0@node0 reads from 1@node1: READ of 64 B 2.1 us
        """,
        text);
  }

  @Test
  void shouldSayAllWhereAllHaveIt() {
    Report old = Patient.roce().answer(Recording.JDK, "25.0.1").examine("jdk");

    String text =
        ClusterText.of(ClusterReport.of(List.of(executor(0, old), executor(1, old)), List.of()));

    assertEquals(
        "  jdk                                            2  all", text.lines().toList().get(3));
    assertEquals("all", text.lines().toList().get(5));
  }

  @Test
  void shouldSayTogetherWhatTheSameExecutorsHave() {
    Report bare = Patient.of("no-device.txt").examine("devices", "mtu", "jdk", "gid");

    String text = ClusterText.of(ClusterReport.of(List.of(executor(0, bare)), List.of()));

    assertTrue(text.startsWith("1 executor: PROBLEM\n"), text);
    assertEquals(1, text.lines().filter("0@node0"::equals).count(), text);
    String notSeen =
        "\n  UNKNOWN" + " ".repeat(18) + "there is no RDMA port to look at: gid, mtu\n";
    assertTrue(text.contains(notSeen), text);
  }
}
