package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code scripts/roce-qos} for a card that this machine does not have: sysfs is a folder, and dcb,
 * mlnx_qos and ethtool are stand-ins that keep settings in files and print them in the tools'
 * documented formats. What it refuses of the real dcb is real.
 */
@Tag("scripts")
class RoceQosTest {
  private static final String ECN = "class/net/eth0/ecn/";
  private static final String TOS = "kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos";

  @TempDir private Path folder;
  private Path settings;
  private Path log;
  private SysTree sys;

  @BeforeEach
  void makeCard() throws IOException {
    sys =
        new SysTree(folder.resolve("sys"))
            .file("class/net/eth0/uevent", "INTERFACE=eth0")
            .file("class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0")
            .file("class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0", "eth1")
            .file(TOS, "0");
    for (int priority = 0; priority < 8; priority++) {
      sys.file(ECN + "roce_np/enable/" + priority, "0")
          .file(ECN + "roce_rp/enable/" + priority, "0");
    }
    settings = Files.createDirectories(folder.resolve("settings"));
    log = folder.resolve("log");
    keep("pause", "on on");
    keep("pfc", "0 0 0 0 1 0 0 0");
    Files.writeString(settings.resolve("dscp"), "");
  }

  private void keep(String name, String value) throws IOException {
    Files.writeString(settings.resolve(name), value + "\n");
  }

  private Script qos() throws IOException {
    Script qos =
        new Script("roce-qos", folder)
            .with("ROCE_QOS_SYS", sys.root())
            .with("STAND_IN_STATE", settings)
            .with("STAND_IN_LOG", log);
    for (String tool : List.of("dcb", "mlnx_qos", "ethtool")) {
      qos.withProgram(Script.resource("qos/" + tool), tool);
    }
    return qos;
  }

  private String[] arguments(String mode, String... more) {
    return Stream.concat(Stream.of(mode, "eth0", "--state", "state"), Stream.of(more))
        .toArray(String[]::new);
  }

  /** All files of the card, of the tools and of sysfs. */
  private Map<String, String> everything() throws IOException {
    Map<String, String> all = new TreeMap<>();
    for (Path root : List.of(settings, sys.root())) {
      try (Stream<Path> files = Files.walk(root)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          // The order in which a table was filled is not the card's.
          all.put(file.toString(), Files.readAllLines(file).stream().sorted().toList().toString());
        }
      }
    }
    return all;
  }

  @Test
  void shouldOnlyShowTheCommandsWhenTheyAreNotToBeApplied() throws Exception {
    Map<String, String> before = everything();

    qos()
        .run(arguments("set", "--tool", "dcb"))
        .exits(0)
        .says(
            "PFC             priority 4",
            "  ethtool -A eth0 rx off tx off\n",
            "  dcb app replace dev eth0 dscp-prio 26:3\n",
            "  dcb pfc set dev eth0 prio-pfc all:off 3:on\n",
            "  echo 1 > " + sys.root() + "/" + ECN + "roce_np/enable/3\n",
            "  echo 1 > " + sys.root() + "/" + ECN + "roce_rp/enable/3\n",
            "echo 106 > " + sys.root() + "/" + TOS + "\n");

    assertEquals(before, everything());
    assertFalse(Files.exists(log), "something was set");
    assertFalse(Files.exists(folder.resolve("state")));
  }

  @Test
  void shouldRunWhatItShowsWhenDcbIsThere() throws Exception {
    qos()
        .run(arguments("set", "--tool", "dcb", "--apply"))
        .exits(0)
        .says("set; for Spark: spark.shuffle.rdma.trafficClass 106");

    assertEquals(
        List.of(
            "ethtool -A eth0 rx off tx off",
            "dcb app replace eth0 dscp-prio 26:3",
            "dcb pfc set eth0 prio-pfc all:off 3:on"),
        Files.readAllLines(log));
    assertSet();
    qos()
        .run(arguments("status", "--tool", "dcb"))
        .exits(0)
        .says(
            "DSCP 26         priority 3",
            "PFC             priority 3",
            "fits; for Spark: spark.shuffle.rdma.trafficClass 106");
    qos().run(arguments("set", "--tool", "dcb", "--apply")).exits(0).says("eth0 is set already");
  }

  private void assertSet() throws IOException {
    assertEquals("0 0 0 1 0 0 0 0\n", Files.readString(settings.resolve("pfc")));
    assertEquals("106\n", Files.readString(sys.root().resolve(TOS)));
    for (String side : List.of("roce_np", "roce_rp")) {
      assertEquals(
          List.of("0", "0", "0", "1", "0", "0", "0", "0"),
          IntStream.range(0, 8).mapToObj(i -> read(ECN + side + "/enable/" + i)).toList());
    }
  }

  private String read(String name) {
    try {
      return Files.readString(sys.root().resolve(name)).strip();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldTrustDscpAndMapItInCallsOfTheirOwnWhenMlnxQosIsThere() throws Exception {
    qos()
        .run(arguments("set", "--tool", "mlnx_qos", "--dscp", "34", "--priority", "3", "--apply"))
        .exits(0)
        .says("trafficClass 138");

    assertEquals(
        List.of(
            "ethtool -A eth0 rx off tx off",
            "mlnx_qos -i eth0 --trust dscp",
            "mlnx_qos -i eth0 --dscp2prio set,34,3",
            "mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0"),
        Files.readAllLines(log));
    qos().run(arguments("status", "--tool", "mlnx_qos", "--dscp", "34")).exits(0);
    qos()
        .run(arguments("status", "--tool", "mlnx_qos", "--dscp", "40"))
        .exits(1)
        .says("DSCP 40 is not mapped to priority 3");
  }

  @ParameterizedTest
  @CsvSource({
    "dcb, ''",
    "dcb, '26:0 46:5'",
    "dcb, '26:0 26:4 10:1'",
    "mlnx_qos, ''",
    "mlnx_qos, '26:0 46:5'",
    "mlnx_qos, '8:1 34:2'"
  })
  void shouldRestoreExactlyWhatWasThereWhenItIsUndone(String tool, String dscps) throws Exception {
    Files.write(settings.resolve("dscp"), dscps.isEmpty() ? List.of() : List.of(dscps.split(" ")));
    Map<String, String> before = everything();
    qos().run(arguments("set", "--tool", tool, "--apply")).exits(0);
    // A second change does not make the first one what was there before.
    qos()
        .run(arguments("set", "--tool", tool, "--dscp", "34", "--priority", "5", "--apply"))
        .exits(0);
    Map<String, String> set = everything();

    qos().run(arguments("undo")).exits(0).says("with --apply:");
    assertEquals(set, everything());
    qos().run(arguments("undo", "--apply")).exits(0).says("eth0 is as it was before");

    assertEquals(before, everything());
    qos().run(arguments("undo", "--apply")).exits(1).says("nothing is saved for eth0");
  }

  /** configfs is mounted, and a port, ethtool and a driver's files come, after the first set. */
  @ParameterizedTest
  @ValueSource(strings = {"dcb", "mlnx_qos"})
  void shouldAlsoRestoreWhatCouldNotBeReadWhenItWasSetFirst(String tool) throws Exception {
    String port = "class/infiniband/mlx5_2/ports/1/gid_attrs/ndevs/0";
    String itsTos = "kernel/config/rdma_cm/mlx5_2/ports/1/default_roce_tos";
    sys.file(port, "eth0").file(itsTos, "64");
    List<Path> late =
        List.of(
            sys.root().resolve(port),
            sys.root().resolve("kernel/config"),
            sys.root().resolve(ECN + "roce_rp"),
            settings.resolve("pause"));
    Map<String, String> before = everything();
    Path away = Files.createDirectories(folder.resolve("away"));
    for (int i = 0; i < late.size(); i++) {
      Files.move(late.get(i), away.resolve("" + i));
    }
    qos().run(arguments("set", "--tool", tool, "--apply")).exits(0);
    // Another port comes later than the rest.
    for (int i = late.size() - 1; i >= 0; i--) {
      Files.move(away.resolve("" + i), late.get(i));
      qos().run(arguments("set", "--tool", tool, "--dscp", "3" + i, "--apply")).exits(0).says("+ ");
    }

    qos().run(arguments("undo", "--apply")).exits(0).says("eth0 is as it was before");
    assertEquals(before, everything());
  }

  @Test
  void shouldLeaveAloneWhatCouldBeReadOnlyAfterItWasSet() throws Exception {
    Path config = sys.root().resolve("kernel/config");
    Map<String, String> before = everything();
    Files.move(config, folder.resolve("config"));
    qos().run(arguments("set", "--tool", "dcb", "--apply")).exits(0);
    Files.move(folder.resolve("config"), config);

    qos().run(arguments("undo", "--apply")).exits(0).says("eth0 is as it was before");
    assertEquals(before, everything());
  }

  /** Names of interfaces may change from boot to boot. */
  @Test
  void shouldRefuseWhenWhatIsSavedIsOfAnotherCard() throws Exception {
    sys.link("class/net/eth0/device", "../../../0000:3b:00.0");
    qos().run(arguments("set", "--tool", "dcb", "--apply")).exits(0);
    Map<String, String> set = everything();
    sys.link("class/net/eth0/device", "../../../0000:5e:00.1");

    for (String mode : List.of("undo", "set")) {
      qos()
          .run(arguments(mode, "--apply"))
          .exits(1)
          .says("is of the card 0000:3b:00.0, and eth0 is now 0000:5e:00.1", "remove it");
    }
    qos().run(arguments("status", "--tool", "dcb")).exits(0);
    assertEquals(set, everything());

    sys.link("class/net/eth0/device", "../../../0000:3b:00.0");
    qos().run(arguments("undo", "--apply")).exits(0).says("eth0 is as it was before");
  }

  @Test
  void shouldKeepTheOrderOfTrustWhenTheDeviceHasOne() throws Exception {
    keep("order", "pcp");

    qos().run(arguments("set", "--tool", "dcb", "--apply")).exits(0);
    assertEquals("dscp pcp\n", Files.readString(settings.resolve("order")));

    qos().run(arguments("undo", "--apply")).exits(0);
    assertEquals("pcp\n", Files.readString(settings.resolve("order")));
  }

  /** An empty order, unlike none, is trust in nothing, whatever the table of DSCPs says. */
  @Test
  void shouldSetTrustWhenTheDeviceTrustsNothing() throws Exception {
    qos().run(arguments("set", "--tool", "dcb", "--apply")).exits(0);
    Files.delete(folder.resolve("state/eth0"));
    keep("order", "");
    qos().run(arguments("status", "--tool", "dcb")).exits(1).says("trust is of nothing, not DSCP");

    qos().run(arguments("set", "--tool", "dcb", "--apply")).exits(0);
    assertEquals("dscp\n", Files.readString(settings.resolve("order")));

    qos().run(arguments("undo", "--apply")).exits(0);
    assertEquals("\n", Files.readString(settings.resolve("order")));
  }

  @Test
  void shouldSayWhatIsNotInForceWhenTheFirmwareOverrides() throws Exception {
    keep("overridden", "");

    qos()
        .run(arguments("set", "--tool", "dcb", "--apply"))
        .exits(1)
        .says(
            "not in force after all: PFC is on for priority 4, not for priority 3 alone",
            "firmware negotiates by DCBX",
            "dcb dcbx set dev eth0 host ieee");
  }

  @Test
  void shouldBeAbleToGoBackWhenACommandFails() throws Exception {
    Map<String, String> before = everything();

    qos()
        .with("STAND_IN_REFUSES", "pfc")
        .run(arguments("set", "--tool", "dcb", "--apply"))
        .exits(1)
        .says(
            "+ dcb pfc set",
            "that command failed",
            "Operation not permitted",
            "roce-qos undo eth0 --apply --state '" + folder.toRealPath().resolve("state") + "'");
    Script.Result failed =
        qos().with("STAND_IN_REFUSES", "app").run(arguments("undo", "--apply")).exits(1);
    failed.says("that command failed", "What was saved is still in ", "undo can be run again: ");
    assertFalse(failed.errors().contains("takes them back"), failed.errors());
    qos().run(arguments("undo", "--apply")).exits(0);

    assertEquals(before, everything());
  }

  @ParameterizedTest
  @ValueSource(strings = {"all", "0-7", "3,4", "0,1,2,3,4,5,6,7"})
  void shouldRefuseWhenPfcIsWantedOnMoreThanOnePriority(String priorities) throws Exception {
    qos()
        .run(arguments("set", "--priority", priorities, "--apply"))
        .exits(2)
        .says("one priority only", "stops everybody");
    assertFalse(Files.exists(log));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | say status, set or undo",
        "apply eth0 | neither status, set nor undo",
        "set | wants the name of an interface",
        "set eth0;reboot | wants the name of an interface",
        "set ../eth0 | wants the name of an interface",
        "set eth0 eth1 | one interface at a time",
        "set eth0 --priority 0 | priority 0 is that of all other packets",
        "set eth0 --priority 8 | --priority wants a number from 1 to 7",
        "set eth0 --dscp 0 | --dscp wants a number from 1 to 63",
        "set eth0 --dscp 64 | --dscp wants a number from 1 to 63",
        "set eth0 --dscp af31 | --dscp wants a number from 1 to 63",
        "set eth0 --dscp | --dscp wants a value",
        "set eth0 --tool tc | --tool wants mlnx_qos or dcb",
        "status eth0 --apply | status changes nothing",
        "set eth0 --force | unknown option '--force'",
      })
  void shouldExplainWhenItIsUsedWrongly(String words, String explanation) throws Exception {
    String[] arguments = words.isEmpty() ? new String[0] : words.split(" ");
    qos().run(arguments).exits(2).says(explanation, "see roce-qos --help");
  }

  @Test
  void shouldSayTheRemedyWhenItCannotSet() throws Exception {
    sys.file("class/net/bond0/bonding/slaves", "eth0 eth1")
        .file("class/net/eth0.7/uevent", "DEVTYPE=vlan")
        .file("class/net/eth0.7/lower_eth0/mtu", "9000");

    qos().run("set", "bond0").exits(1).says("bond0 is a bond: set each of its ports: eth0 eth1");
    qos().run("set", "eth0.7").exits(1).says("eth0.7 is a VLAN: set its card, eth0");
    qos().run("set", "eth9").exits(1).says("no interface eth9 here: bond0 eth0");
    String[] needed = {"readlink", "basename", "realpath", "grep"};
    new Script("roce-qos", folder)
        .with("ROCE_QOS_SYS", sys.root())
        .withNothingBut(needed)
        .run("set", "eth0")
        .exits(1)
        .says("no dcb here", "apt-get install iproute2");
    new Script("roce-qos", folder)
        .with("ROCE_QOS_SYS", sys.root())
        .withNothingBut(needed)
        .run("set", "eth0", "--tool", "mlnx_qos")
        .exits(1)
        .says("no mlnx_qos here", "mlnx-tools");
  }

  @Test
  void shouldSayWhatDcbSaysWhenTheDriverHasNone() throws Exception {
    new Script("roce-qos", folder)
        .run("set", "lo", "--tool", "dcb", "--apply")
        .exits(1)
        .says("dcb cannot read lo: ", "ethtool -i lo");
  }
}
