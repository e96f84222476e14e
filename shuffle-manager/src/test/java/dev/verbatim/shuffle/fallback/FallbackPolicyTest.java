package dev.verbatim.shuffle.fallback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.RegistrationException;
import dev.verbatim.transport.UnavailableReason;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class FallbackPolicyTest {

  private static ProcessFacts facts(String... settings) {
    SparkConf conf = new SparkConf(false).set("spark.master", "local-cluster[2,1,1024]");
    for (String setting : settings) {
      String[] parts = setting.split("=", 2);
      conf.set(parts[0], parts[1]);
    }
    return ProcessFacts.of(conf, RdmaConf.load(conf));
  }

  private static ProcessFacts versions(String spark, String jdk) {
    return new ProcessFacts(
        spark, Runtime.Version.parse(jdk), true, false, false, false, false, false, false, false);
  }

  @Test
  void shouldAllowRdmaWhenNothingSpeaksAgainstIt() {
    assertEquals(Optional.empty(), FallbackPolicy.forProcess(facts()));
  }

  @ParameterizedTest
  @CsvSource({
    "spark.shuffle.rdma.enabled=false,FORCED_OFF",
    "spark.master=local[4],LOCAL_MODE",
    "spark.master=local,LOCAL_MODE",
    "spark.shuffle.service.enabled=true,EXTERNAL_SHUFFLE_SERVICE",
    "spark.shuffle.useOldFetchProtocol=true,OLD_FETCH_PROTOCOL",
    "spark.network.crypto.enabled=true,ENCRYPTION_REQUIRED",
    "spark.authenticate.enableSaslEncryption=true,ENCRYPTION_REQUIRED",
    "spark.ssl.rpc.enabled=true,ENCRYPTION_REQUIRED",
  })
  void shouldRefuseRdmaWhenASettingForbidsIt(String setting, FallbackReason reason) {
    Obstacle obstacle = FallbackPolicy.forProcess(facts(setting)).orElseThrow();

    assertEquals(reason, obstacle.reason());
    assertTrue(obstacle.describe().startsWith("RDMA off: " + reason + ", "));
    assertTrue(obstacle.describe().contains(reason.remedy()));
  }

  @ParameterizedTest
  @CsvSource({
    "spark.network.crypto.enabled=true,spark.io.encryption.enabled=true",
    "spark.ssl.rpc.enabled=true,spark.shuffle.rdma.allowUnencrypted=true",
    "spark.authenticate=true,spark.io.encryption.enabled=false",
  })
  void shouldAllowRdmaWhenEncryptionIsSatisfiedOrWaived(String demand, String answer) {
    assertEquals(Optional.empty(), FallbackPolicy.forProcess(facts(demand, answer)));
  }

  @ParameterizedTest
  @CsvSource({
    "4.1.1,25.0.3,SPARK_VERSION",
    "4.20.0,25.0.3,SPARK_VERSION",
    "4.2.0,25.0.2,JDK_TOO_OLD",
    "4.2.1,25,JDK_TOO_OLD"
  })
  void shouldNameFoundAndNeededWhenAVersionIsWrong(
      String spark, String jdk, FallbackReason reason) {
    Obstacle obstacle = FallbackPolicy.forProcess(versions(spark, jdk)).orElseThrow();

    assertEquals(reason, obstacle.reason());
    assertTrue(obstacle.seen().matches("found .* needed .*"), obstacle.seen());
  }

  @ParameterizedTest
  @CsvSource({"4.2.0,25.0.3", "4.2.7,25.0.3+9-LTS", "4.2.0,26"})
  void shouldAllowRdmaWhenVersionsAreRight(String spark, String jdk) {
    assertEquals(Optional.empty(), FallbackPolicy.forProcess(versions(spark, jdk)));
  }

  @Test
  void shouldLeaveOneShuffleWhenItIsMergedByPush() {
    assertEquals(Optional.of(FallbackReason.PUSH_BASED_SHUFFLE), FallbackPolicy.forShuffle(true));
    assertEquals(Optional.empty(), FallbackPolicy.forShuffle(false));
  }

  @ParameterizedTest
  @EnumSource
  void shouldExplainAndAdviseWhenAnyReasonIsTold(FallbackReason reason) {
    assertFalse(reason.meaning().isBlank());
    assertFalse(reason.remedy().isBlank());
  }

  @ParameterizedTest
  @EnumSource
  void shouldKeepTheNameWhenTheTransportIsUnavailable(UnavailableReason reason) {
    Obstacle obstacle =
        Obstacle.of(new OpenResult.Unavailable(reason, "what was seen", "what helps"));

    assertEquals(reason.name(), obstacle.reason().name());
    assertTrue(obstacle.describe().contains("what was seen; to change it: what helps"));
  }

  @ParameterizedTest
  @CsvSource({
    "REMOTE_ACCESS,READ_FAILED",
    "PEER_UNREACHABLE,READ_FAILED",
    "DEADLINE,READ_FAILED",
    "DISCONNECTED,READ_FAILED",
    "LOCAL_PORT,PORT_NOT_ACTIVE",
    "LOCAL_DEVICE,DEVICE_ERROR",
    "OTHER,READ_FAILED",
  })
  void shouldNameTheReasonWhenAReadFails(ReadFailure.Kind kind, FallbackReason reason) {
    assertEquals(reason, FallbackReason.of(kind));
  }

  @ParameterizedTest
  @CsvSource({
    "MEMLOCK,MEMLOCK",
    "NOT_PINNABLE,FILE_NOT_PINNABLE",
    "FILE,FILE_UNREADABLE",
    "DEVICE,DEVICE_ERROR",
  })
  void shouldNameTheReasonWhenRegistrationFails(
      RegistrationException.Kind kind, FallbackReason reason) {
    assertEquals(reason, FallbackReason.of(kind));
  }
}
