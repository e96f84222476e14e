package dev.verbatim.it.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * Takes the link of the device's port down and up: by the command in {@code VERBATIM_PORT_CONTROL},
 * to which {@code down} or {@code up} is added, or by the fault file of the stand-in device.
 */
final class PortControl {
  private PortControl() {}

  /** Skips the test where there is no way to control the port. */
  static void assumePossible() {
    Assumptions.assumeTrue(
        System.getenv("VERBATIM_PORT_CONTROL") != null || StandInFaults.present(),
        "neither VERBATIM_PORT_CONTROL nor a stand-in device");
  }

  static void down() throws Exception {
    set("down");
  }

  static void up() throws Exception {
    set("up");
  }

  private static void set(String state) throws Exception {
    String command = System.getenv("VERBATIM_PORT_CONTROL");
    if (command == null) {
      StandInFaults.set(state.equals("down") ? "port down" : "");
      return;
    }
    List<String> words = new ArrayList<>(List.of(command.split(" ")));
    words.add(state);
    Process process = new ProcessBuilder(words).inheritIO().start();
    if (process.waitFor() != 0) {
      throw new IOException(words + " ended with " + process.exitValue());
    }
  }

  /** The fault file of the stand-in device. */
  static final class StandInFaults {
    private StandInFaults() {}

    static boolean present() {
      return System.getenv("VERBATIM_STANDIN_DIR") != null;
    }

    static void assumePresent() {
      Assumptions.assumeTrue(present(), "not a stand-in device");
    }

    /** Replaces all rules. */
    static void set(String rules) throws IOException {
      Path folder = Files.createDirectories(Path.of(System.getenv("VERBATIM_STANDIN_DIR")));
      Path fresh = Files.writeString(folder.resolve("faults.new"), rules + "\n");
      Files.move(fresh, folder.resolve("faults"), StandardCopyOption.ATOMIC_MOVE);
    }
  }
}
