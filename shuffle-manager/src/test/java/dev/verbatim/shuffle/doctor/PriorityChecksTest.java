package dev.verbatim.shuffle.doctor;

import static dev.verbatim.shuffle.doctor.Diagnosis.assertFound;

import org.junit.jupiter.api.Test;

/** Checks of PFC, ECN and the traffic class, which go together. */
class PriorityChecksTest {
  private static final String DCB = "tool dcb pfc show dev eth0";
  private static final String APP = "tool dcb -N app show dev eth0 dscp-prio";
  private static final String ORDER = "tool dcb apptrust show dev eth0";
  private static final String TOS = "spark.shuffle.rdma.trafficClass";
  private static final String MLNX =
      """
      DCBX mode: OS controlled
      Priority trust state: dscp
      dscp2prio mapping:
      \tprio:0 dscp:07,06,05,04,03,02,01,00,
      \tprio:3 dscp:31,30,29,28,27,26,25,24,
      \tprio:5 dscp:46,
      Cable len: 7
      PFC configuration:
      \tpriority    0   1   2   3   4   5   6   7
      \tenabled     0   0   0   0   0   1   0   0\s\s\s
      tc: 0 ratelimit: unlimited, tsa: vendor
      """;

  private static Patient withPfc(String priorities) {
    return Patient.roce()
        .answer(DCB, "pfc-cap 8 macsec-bypass off delay 0\nprio-pfc " + priorities);
  }

  @Test
  void shouldWantPfcOnOnePriority() {
    assertFound(Verdict.OK, Patient.roce().finding("pfc"), "priorities [3]");
    assertFound(
        Verdict.WARNING,
        withPfc("0:off 1:off 2:off 3:off 4:off 5:off 6:off 7:off").finding("pfc"),
        "PFC on no priority",
        "dcb pfc set dev eth0 prio-pfc all:off 3:on");
    assertFound(
        Verdict.WARNING,
        withPfc("0:off 1:off 2:off 3:on 4:on 5:off 6:off 7:off").finding("pfc"),
        "[3, 4]");
    assertFound(
        Verdict.PROBLEM,
        withPfc("0:on 1:on 2:on 3:on 4:on 5:on 6:on 7:on").finding("pfc"),
        "PFC on all priorities");
  }

  @Test
  void shouldAskNvidiasToolWhereDcbIsMissing() {
    Patient nvidia = Patient.roce().without(DCB).answer("tool mlnx_qos -i eth0", MLNX);
    assertFound(Verdict.OK, nvidia.finding("pfc"), "priorities [5]");
    assertFound(
        Verdict.WARNING,
        nvidia.set(TOS, "106").finding("traffic-class"),
        "which is priority 3",
        "the one with PFC");
    assertFound(Verdict.OK, nvidia.set(TOS, "186").finding("traffic-class"), "which is priority 5");
  }

  @Test
  void shouldSayWhyPfcCannotBeSeen() {
    assertFound(
        Verdict.UNKNOWN,
        Patient.roce()
            .without(DCB)
            .answer("tool-failed dcb pfc show dev eth0", "Operation not supported")
            .finding("pfc"),
        "dcb failed (1): Operation not supported",
        "there is no mlnx_qos");
    assertFound(Verdict.OK, Patient.of("infiniband.txt").finding("pfc"), "not RoCE");
  }

  @Test
  void shouldWantEcnForThePriorityWithPfc() {
    String reaction = "/sys/class/net/eth0/ecn/roce_rp/enable/3";
    assertFound(Verdict.OK, Patient.roce().finding("ecn"), "priorities [3]");
    assertFound(
        Verdict.WARNING,
        Patient.roce().file(reaction, "0").finding("ecn"),
        "priorities []",
        "echo 1 | tee",
        reaction);
    assertFound(
        Verdict.UNKNOWN,
        Patient.roce().withoutFolder("/sys/class/net/eth0/ecn").finding("ecn"),
        "by no file");
  }

  @Test
  void shouldFollowTheTosByteToItsPriority() {
    String system = "file /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos";
    assertFound(
        Verdict.OK, Patient.roce().finding("traffic-class"), "the system's, 106", "priority 3");
    assertFound(
        Verdict.WARNING,
        Patient.roce().without(system).finding("traffic-class"),
        "whose DSCP 0 the card maps to no priority",
        "spark.shuffle.rdma.trafficClass=106");
    assertFound(
        Verdict.WARNING,
        Patient.roce().set(TOS, "106").answer(APP, "dscp-prio 26:4 24:3").finding("traffic-class"),
        "which is priority 4",
        "spark.shuffle.rdma.trafficClass=98");
    assertFound(
        Verdict.WARNING,
        Patient.roce().set(TOS, "106").answer(APP, "dscp-prio 26:4 48:6").finding("traffic-class"),
        "which is priority 4",
        "scripts/roce-qos set eth0 --priority 3 --dscp 26");
  }

  @Test
  void shouldNotGoByDscpThatTheCardDoesNotTrust() {
    assertUntrusted(Patient.roce().answer(APP, ""), "no DSCP has a priority");
    assertUntrusted(Patient.roce().answer(ORDER, "order: pcp"), "trust is of pcp");
    assertUntrusted(Patient.roce().answer(ORDER, "order:"), "trust is of nothing");
    String pcp =
        MLNX.replaceAll("(?m)^.*dscp2prio mapping:\\n|^\tprio:.*\\n", "")
            .replace("trust state: dscp", "trust state: pcp")
            .replace("0   0   0   0   0   1   0   0", "0   0   0   1   0   0   0   0");
    assertUntrusted(Patient.roce().answer("tool mlnx_qos -i eth0", pcp), "trust is pcp");
    assertUntrusted(
        Patient.roce()
            .answer("tool mlnx_qos -i eth0", pcp.replace("state: pcp", "state: dscp"))
            .without(DCB),
        "no DSCP has a priority");
  }

  /** All else would lead DSCP 26 to priority 3, which is the one with PFC. */
  private static void assertUntrusted(Patient patient, String seen) {
    assertFound(Verdict.OK, patient.finding("pfc"), "priorities [3]");
    assertFound(
        Verdict.WARNING,
        patient.set(TOS, "106").finding("traffic-class"),
        seen,
        "trust of DSCP",
        "scripts/roce-qos set eth0 --priority 3 --dscp 26 --apply");
  }

  @Test
  void shouldNameTheDscpForThePriorityWhenNoneIsSet() {
    assertFound(
        Verdict.WARNING,
        withPfc("0:off 1:off 2:off 3:off 4:off 5:on 6:off 7:off")
            .without("file /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos")
            .answer(APP, "")
            .finding("traffic-class"),
        "scripts/roce-qos set eth0 --priority 5 --dscp 42 --apply");
    assertFound(
        Verdict.WARNING,
        withPfc("0:on 1:off 2:off 3:off 4:off 5:off 6:off 7:off")
            .answer(APP, "")
            .finding("traffic-class"),
        "scripts/roce-qos set eth0 --apply");
  }

  @Test
  void shouldGoByDscpThatIsTrustedInAnyPlace() {
    assertFound(
        Verdict.OK,
        Patient.roce().answer(ORDER, "order: pcp dscp").finding("traffic-class"),
        "priority 3");
    assertFound(
        Verdict.OK,
        Patient.roce()
            .answer("tool-failed dcb apptrust show dev eth0", "Object \"apptrust\" is unknown")
            .finding("traffic-class"),
        "priority 3");
  }

  @Test
  void shouldSayWhyTrustCannotBeSeen() {
    assertFound(
        Verdict.UNKNOWN,
        Patient.roce()
            .without(APP)
            .answer("tool-failed dcb -N app show dev eth0 dscp-prio", "Operation not permitted")
            .finding("traffic-class"),
        "dcb app failed (1): Operation not permitted");
    assertFound(
        Verdict.UNKNOWN,
        Patient.roce()
            .answer("tool mlnx_qos -i eth0", MLNX.replace("state: dscp", "state: none"))
            .finding("traffic-class"),
        "does not tell which trust");
  }

  /** NVIDIA's own driver keeps trust in files, of which dcb knows nothing. */
  @Test
  void shouldAskTheToolThatTheScriptWouldTake() {
    Patient both = Patient.roce().answer("tool mlnx_qos -i eth0", MLNX);
    assertFound(Verdict.OK, both.finding("pfc"), "priorities [5]");
    assertFound(
        Verdict.OK,
        both.file("/sys/class/net/eth0/device/uevent", "DRIVER=bnxt_en").finding("pfc"),
        "priorities [3]");
  }

  @Test
  void shouldNotJudgeTheTrafficClassWithoutAPriority() {
    assertFound(
        Verdict.UNKNOWN,
        withPfc("0:off 1:off 2:off 3:off 4:off 5:off 6:off 7:off").finding("traffic-class"),
        "no one priority");
  }
}
