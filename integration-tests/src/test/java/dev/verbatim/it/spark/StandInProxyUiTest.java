package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.shuffle.RdmaShuffleManager;
import org.apache.spark.deploy.LocalSparkCluster$;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The tab as it is seen through the cluster's master, with {@code spark.ui.reverseProxy}. */
@Tag("standin")
class StandInProxyUiTest extends UiTests {

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return super.settings(application).set("spark.ui.reverseProxy", true);
  }

  @Override
  String ui() {
    int port = LocalSparkCluster$.MODULE$.get().get().masterWebUIPort();
    return "http://127.0.0.1:" + port + "/proxy/" + applicationId();
  }

  /** Spark leaves it to the process, whose next application may be without a proxy. */
  @AfterAll
  static void forgetProxy() {
    System.clearProperty("spark.ui.proxyBase");
  }

  @Test
  void shouldShowTheSameWhenAllLinksGoThroughTheProxy() {
    runAndAwaitReports();
    // As the driver has set it; here the Master and the Workers, which set theirs, share its
    // process.
    System.setProperty("spark.ui.proxyBase", "/proxy/" + applicationId());
    awaitTab("PORT_ACTIVE");

    JsonNode links =
        browser.script(
            """
            return [...document.querySelectorAll('a[href], link[href], script[src], form')]
                .map(e => new URL(e.href || e.src || e.action).pathname)
            """);
    assertTrue(links.size() > 20, links::toString);
    links.forEach(
        link ->
            assertTrue(
                link.asText().startsWith("/proxy/" + applicationId() + "/")
                    || link.asText().startsWith("/static/") // the master has the same files
                    || link.asText().equals("/"),
                links::toString));

    browser.script(
        """
        [...document.querySelectorAll('#executors-table th a')]
            .find(link => link.innerText.startsWith('Regions')).click()
        """);
    browser.await("location.search.includes('executors.sort=Regions')");
    assertEquals("/proxy/" + applicationId() + "/rdma/", browser.address().getPath());
    assertShows(RdmaShuffleManager.report(), "PORT_ACTIVE");
  }
}
