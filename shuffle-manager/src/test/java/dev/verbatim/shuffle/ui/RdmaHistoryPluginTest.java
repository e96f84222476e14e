package dev.verbatim.shuffle.ui;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.history.FsHistoryProvider;
import org.apache.spark.deploy.history.HistoryServer;
import org.apache.spark.scheduler.EventLoggingListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerApplicationStart;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;

/** Spark's history server reads what Spark's event log has written. */
@Timeout(60)
class RdmaHistoryPluginTest {
  private static final String PAGE = "/history/app-1/rdma/";

  @TempDir Path folder;
  private final SparkConf conf = new SparkConf(false);
  private HistoryServer server;

  @AfterEach
  void stop() {
    if (server != null) {
      server.stop();
    }
  }

  private void write(Consumer<EventLoggingListener> events) {
    conf.set("spark.eventLog.dir", folder.toUri().toString())
        .set("spark.history.fs.logDirectory", folder.toUri().toString());
    EventLoggingListener log =
        new EventLoggingListener("app-1", Option.empty(), folder.toUri(), conf);
    log.start();
    log.onApplicationStart(
        new SparkListenerApplicationStart(
            "an application",
            Option.apply("app-1"),
            1,
            "somebody",
            Option.empty(),
            Option.empty(),
            Option.empty()));
    events.accept(log);
    log.onApplicationEnd(new SparkListenerApplicationEnd(2, Option.empty()));
    log.stop();
  }

  private void serve() {
    server = new HistoryServer(conf, new FsHistoryProvider(conf), LiveUi.security(conf), 0);
    server.initialize();
    server.bind();
  }

  private String page(String path) {
    var answer = LiveUi.get(server.boundPort(), path);
    assertEquals(200, answer.statusCode(), answer.body());
    return answer.body();
  }

  private static SparkListenerRdmaStatus all(RdmaStatus status) {
    return new SparkListenerRdmaStatus(
        status.application(), status.executors(), status.shuffles(), List.of(), List.of());
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "JSON", "PROTOBUF"})
  void shouldShowWhatEventsHaveToldInTheEnd(String store) throws Exception {
    if (!store.equals("memory")) {
      conf.set("spark.history.store.path", folder.resolve("store").toString())
          .set("spark.history.store.serializer", store);
    }
    write(
        log -> {
          log.onOtherEvent(all(Rows.many(3)));
          log.onOtherEvent(
              new SparkListenerRdmaStatus(
                  Rows.many(3).application(),
                  List.of(Rows.executor("2", 4711)),
                  List.of(Rows.shuffle(9, 12)),
                  List.of("0"),
                  List.of(1)));
        });
    serve();

    JsonNode json = new ObjectMapper().readTree(page(PAGE + "json/"));
    RdmaStatus expected =
        Rows.status(
            List.of(Rows.executor("1", 10), Rows.executor("2", 4711)),
            List.of(Rows.shuffle(0, 0), Rows.shuffle(2, 2), Rows.shuffle(9, 12)));
    assertEquals(
        new ObjectMapper().readTree(new ObjectMapper().writeValueAsString(expected)), json);
    String page = page(PAGE);
    assertTrue(page.contains("Executors (2)"), page);
    assertTrue(page.contains("title=\"4711 bytes\""), page);
    assertTrue(page.contains("href=\"/history/app-1/rdma/?"), page);
    assertTrue(page("/history/app-1/executors/").contains("href=\"/history/app-1/rdma/\""));
  }

  @Test
  void shouldNotShowTheTabForAnApplicationWithAnotherShuffle() {
    write(log -> {});
    serve();
    assertFalse(page("/history/app-1/executors/").contains("RDMA"));
  }

  @Test
  void shouldDoNoHarmToAHistoryServerThatHasNotThisJar() throws IOException {
    write(log -> log.onOtherEvent(all(Rows.many(3))));
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(new WithoutVerbatim(before));
    try {
      serve();
      String page = page("/history/app-1/executors/");
      assertTrue(page.contains("an application"), page);
      assertFalse(page.contains("RDMA"), page);
      JsonNode application = new ObjectMapper().readTree(page("/api/v1/applications/app-1"));
      assertTrue(application.findValue("completed").asBoolean(), application::toString);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static final class WithoutVerbatim extends ClassLoader {
    WithoutVerbatim(ClassLoader parent) {
      super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("dev.verbatim.")) {
        throw new ClassNotFoundException(name);
      }
      return super.loadClass(name, resolve);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
      return Collections.enumeration(
          Collections.list(super.getResources(name)).stream().filter(url -> !isOurs(url)).toList());
    }

    private static boolean isOurs(URL url) {
      try (InputStream content = url.openStream()) {
        return new String(content.readAllBytes(), StandardCharsets.UTF_8).contains("verbatim");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
