package dev.verbatim.shuffle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.fallback.FallbackReason;
import java.util.Arrays;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;
import org.apache.spark.rpc.RpcEnv;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import scala.Option;

class ExecutorSessionTest {

  /** What Scala throws without declaring it. */
  static Stream<Exception> undeclared() {
    return Stream.of(new SparkException("no such endpoint"), new TimeoutException("too late"));
  }

  @ParameterizedTest
  @MethodSource("undeclared")
  void shouldStartWithoutRdmaWhenTheRegistryCannotBeFound(Exception thrown) {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.master", "local-cluster[1,1,1024]")
            .set("spark.driver.host", "localhost");
    RpcEnv rpcEnv = mock(RpcEnv.class);
    when(rpcEnv.setupEndpointRef(any(), anyString()))
        .thenAnswer(
            call -> {
              throw thrown;
            });
    SparkEnv env = mock(SparkEnv.class);
    when(env.rpcEnv()).thenReturn(rpcEnv);
    when(env.executorId()).thenReturn("1");

    try (ExecutorSession session = ExecutorSession.open(conf, RdmaConf.load(conf), null, env)) {
      assertTrue(session.active().isEmpty());
      assertEquals(FallbackReason.REGISTRY_UNREACHABLE, session.reason());
      assertTrue(session.describe().contains(thrown.getMessage()), session.describe());
    }
  }

  private static byte[] keyed(String secret, byte... token) {
    SparkConf conf = new SparkConf(false).set("spark.master", "local-cluster[1,1,1024]");
    if (secret != null) {
      conf.set("spark.authenticate", "true").set("spark.authenticate.secret", secret);
    }
    return ExecutorSession.keyed(
        token,
        new SecurityManager(
            conf,
            Option.empty(),
            org.apache.spark.internal.config.package$.MODULE$.AUTH_SECRET_FILE()));
  }

  /** Who has only seen the token pass does not have the key. */
  @Test
  void shouldMakeTheSecretPartOfTheKeyWhenSparkAuthenticates() {
    byte[] token = {1, 2, 3};
    assertArrayEquals(token, keyed(null, token));
    byte[] key = keyed("secret", token);
    assertEquals(32, key.length);
    assertArrayEquals(key, keyed("secret", token));
    assertFalse(Arrays.equals(key, keyed("another", token)));
    assertFalse(Arrays.equals(key, keyed("secret", (byte) 1, (byte) 2, (byte) 4)));
  }
}
