package dev.verbatim.shuffle.fallback;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/** The one place that decides from facts whether a process or a shuffle may use RDMA. */
public final class FallbackPolicy {
  /** Older ones may move pinned memory. */
  public static final Runtime.Version OLDEST_JDK = Runtime.Version.parse("25.0.3");

  static final String SPARK_LINE = "4.2.";

  /** In the order of importance: the first that applies is the one told. */
  private static final List<Rule> RULES =
      List.of(
          new Rule(
              FallbackReason.SPARK_VERSION,
              facts -> !facts.sparkVersion().startsWith(SPARK_LINE),
              facts -> "found Spark " + facts.sparkVersion() + ", needed " + SPARK_LINE + "x"),
          new Rule(
              FallbackReason.JDK_TOO_OLD,
              facts -> isOldJdk(facts.jdk()),
              facts -> "found JDK " + facts.jdk() + ", needed " + OLDEST_JDK + " or newer"),
          new Rule(
              FallbackReason.FORCED_OFF,
              facts -> !facts.enabled(),
              facts -> "spark.shuffle.rdma.enabled=false"),
          new Rule(
              FallbackReason.LOCAL_MODE, ProcessFacts::localMaster, facts -> "master is local"),
          new Rule(
              FallbackReason.EXTERNAL_SHUFFLE_SERVICE,
              ProcessFacts::externalShuffleService,
              facts -> "spark.shuffle.service.enabled=true"),
          new Rule(
              FallbackReason.OLD_FETCH_PROTOCOL,
              ProcessFacts::oldFetchProtocol,
              facts -> "spark.shuffle.useOldFetchProtocol=true"),
          new Rule(
              FallbackReason.ENCRYPTION_REQUIRED,
              facts ->
                  (facts.networkCrypto() || facts.rpcSsl())
                      && !facts.ioEncryption()
                      && !facts.allowUnencrypted(),
              facts ->
                  facts.networkCrypto()
                      ? "spark.network.crypto.enabled or"
                          + " spark.authenticate.enableSaslEncryption is true"
                      : "spark.ssl.rpc.enabled=true"));

  private FallbackPolicy() {}

  /** Whether a JDK is older than {@link #OLDEST_JDK}. */
  public static boolean isOldJdk(Runtime.Version jdk) {
    return jdk.compareToIgnoreOptional(OLDEST_JDK) < 0;
  }

  /** What keeps this process from RDMA before any device is looked at. */
  public static Optional<Obstacle> forProcess(ProcessFacts facts) {
    return RULES.stream()
        .filter(rule -> rule.applies.test(facts))
        .findFirst()
        .map(rule -> Obstacle.of(rule.reason, rule.seen.apply(facts)));
  }

  /** What keeps one shuffle from RDMA in a process that has it. */
  public static Optional<FallbackReason> forShuffle(boolean mergedByPush) {
    return mergedByPush ? Optional.of(FallbackReason.PUSH_BASED_SHUFFLE) : Optional.empty();
  }

  private record Rule(
      FallbackReason reason,
      Predicate<ProcessFacts> applies,
      Function<ProcessFacts, String> seen) {}
}
