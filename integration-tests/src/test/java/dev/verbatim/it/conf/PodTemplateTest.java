package dev.verbatim.it.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.verbatim.it.spark.fixture.Scrape;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code conf/kubernetes-executor.yaml} as Kubernetes and Spark take it. */
@Tag("scripts")
class PodTemplateTest {
  private final JsonNode pod = Scrape.yaml("kubernetes-executor.yaml");
  private final JsonNode spec = pod.required("spec");

  @Test
  void shouldBeAPodWithTheContainerThatSparkExpects() {
    assertEquals("v1", pod.required("apiVersion").asText());
    assertEquals("Pod", pod.required("kind").asText());
    assertEquals(1, spec.required("containers").size());
    // DEFAULT_EXECUTOR_CONTAINER_NAME in Spark.
    assertEquals("spark-kubernetes-executor", container().required("name").asText());
  }

  private JsonNode container() {
    return spec.required("containers").required(0);
  }

  /** Kubernetes takes whole ones only of what a device plugin has, and limits are its requests. */
  @Test
  void shouldAskForOneDeviceAndLeaveProcessorsAndMemoryToSpark() {
    JsonNode resources = container().required("resources");

    assertEquals(List.of("limits"), names(resources));
    List<String> limits = names(resources.required("limits"));
    assertEquals(1, limits.size(), limits::toString);
    assertTrue(limits.getFirst().matches("[a-z.]*rdma[a-z.]*/[a-z0-9_.-]+"), limits::toString);
    JsonNode quantity = resources.required("limits").required(limits.getFirst());
    assertTrue(quantity.isInt() && quantity.asInt() == 1, quantity::toString);
  }

  /** Without root the capability is not effective. */
  @Test
  void shouldLiftTheLimitOfLockedMemory() {
    JsonNode security = container().required("securityContext");

    assertEquals("[\"IPC_LOCK\"]", security.required("capabilities").required("add").toString());
    assertEquals(0, security.required("runAsUser").asInt(-1));
    assertTrue(security.path("privileged").isMissingNode(), security::toString);
  }

  /** The device has its addresses there; without the policy Spark's driver would not be found. */
  @Test
  void shouldUseTheNetworkOfTheNodeWithNamesOfTheCluster() {
    assertTrue(spec.required("hostNetwork").isBoolean() && spec.get("hostNetwork").asBoolean());
    assertEquals("ClusterFirstWithHostNet", spec.required("dnsPolicy").asText());
  }

  private static List<String> names(JsonNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }
}
