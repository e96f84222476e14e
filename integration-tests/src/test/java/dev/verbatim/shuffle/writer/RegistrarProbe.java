package dev.verbatim.shuffle.writer;

/** Hands map outputs over without a map task. */
public final class RegistrarProbe {
  private RegistrarProbe() {}

  /** Returns at once, as for a map task. */
  public static void submit(OutputRegistrar registrar, MapOutputFiles files) {
    registrar.submit(registrar.arena(files.shuffleId()), files);
  }
}
