package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which stages {@code scripts/test} runs, and how. What they run says only that it was run. */
@Tag("scripts")
class StagesTest {
  private static final String NOTE =
      "#!/bin/sh\necho \"${0##*/} $*\" | sed 's/ $//' >> '%s'\n[ ! -e '%s' ]\n";

  /** What each stage starts, in the order of the stages. */
  private static final List<String> ALL =
      List.of(
          "mvnw --batch-mode --no-transfer-progress verify -pl rdma-transport,shuffle-manager,examples",
          "mvnw --batch-mode --no-transfer-progress verify -pl integration-tests -am"
              + " -Dverbatim.skipUnitTests=true",
          "check-release",
          "run transport",
          "run spark",
          "run-wire",
          "run --device siw");

  @TempDir private Path folder;

  private Path checkout;
  private Path started;
  private Path broken;

  @BeforeEach
  void makeCheckout() throws IOException {
    checkout = Checkout.of(folder.resolve("checkout"), "scripts");
    started = folder.resolve("started");
    broken = folder.resolve("broken");
    for (String program :
        List.of(
            "mvnw",
            "integration-tests/check-release",
            "integration-tests/guest/run",
            "integration-tests/guest/run-wire")) {
      Script.program(checkout.resolve(program), NOTE.formatted(started, broken));
    }
  }

  /** On a machine that has all packages. */
  private Script test() throws IOException {
    Path installed =
        Script.program(folder.resolve("installed"), "#!/bin/sh\necho install ok installed\n");
    return new Script(checkout.resolve("scripts/test"), folder)
        .withProgram(installed, "dpkg-query", "chromedriver", "promtool");
  }

  private List<String> started() throws IOException {
    return Files.exists(started) ? Files.readAllLines(started) : List.of();
  }

  @Test
  void shouldRunAllStagesWhenNoneIsNamed() throws Exception {
    test().run().exits(0).says("stage unit: passed in ", "stage iwarp: passed in ");

    assertEquals(ALL, started());
  }

  @Test
  void shouldRunTheStagesThatAreNamed() throws Exception {
    test().run("--iwarp").exits(0).says("stage iwarp: passed in ");

    assertEquals(List.of("run --device siw"), started());
  }

  @Test
  void shouldRunBothPartsOfTheGuest() throws Exception {
    test()
        .run("--guest")
        .exits(0)
        .says("stage guest-transport: passed", "stage guest-spark: passed");

    assertEquals(List.of("run transport", "run spark"), started());
  }

  @Test
  void shouldLeaveOutWithTheReasonWhatWouldEndTooLate() throws Exception {
    Script.Result result =
        test()
            .with("SECONDS", 100 * 60) // bash begins to count there; the first stage always runs
            .run("--release", "--iwarp", "--within", "80")
            .exits(0)
            .says("stage release: passed in ");

    result.says(
        "stage iwarp: LEFT OUT, it would end later than 80 minutes after the start;"
            + " run scripts/test --iwarp");
    assertEquals(List.of("check-release"), started());
  }

  @Test
  void shouldRunAllWhenThereIsTime() throws Exception {
    test().run("--within", "80").exits(0);

    assertEquals(ALL, started());
  }

  @Test
  void shouldEndAndSayWhichWhenAStageFails() throws Exception {
    Files.createFile(broken);

    Script.Result result = test().run("--release", "--iwarp").exits(1);

    result.says("stage release: FAILED");
    assertTrue(!result.output().contains("stage iwarp"), result::output);
    assertEquals(List.of("check-release"), started());
  }

  @Test
  void shouldNameWhatItDoesNotKnow() throws Exception {
    test().run("--swi").exits(2).says("unknown option --swi");
    test().run("--within", "soon").exits(2).says("--within wants minutes from 1 to 9999");
    test().run("--help").exits(0).says("--unit  ", "--iwarp  ", "--within leaves out");
    assertEquals(List.of(), started());
  }
}
