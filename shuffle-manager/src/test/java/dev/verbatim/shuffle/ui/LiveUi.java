package dev.verbatim.shuffle.ui;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.function.Supplier;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.status.AppStatusStore;
import org.apache.spark.ui.SparkUI;
import scala.Option;

/** Spark's user interface on its own web server, without an application behind it. */
final class LiveUi implements AutoCloseable {
  private static final HttpClient HTTP =
      HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();

  private final SparkUI ui;

  LiveUi(Supplier<RdmaStatus> status) {
    SparkConf conf = new SparkConf(false).set("spark.ui.port", "0");
    ui =
        SparkUI.create(
            Option.empty(),
            AppStatusStore.createLiveStore(conf, Option.empty()),
            conf,
            security(conf),
            "<b>an application</b>",
            "",
            System.currentTimeMillis(),
            "4.2.0");
    ui.bind();
    ui.attachAllHandlers();
    RdmaTab.attach(ui, status);
  }

  static SecurityManager security(SparkConf conf) {
    return new SecurityManager(
        conf, Option.empty(), org.apache.spark.internal.config.package$.MODULE$.AUTH_SECRET_FILE());
  }

  HttpResponse<String> get(String path) {
    return get(ui.boundPort(), path);
  }

  static HttpResponse<String> get(int port, String path) {
    try {
      return HTTP.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
          BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    ui.stop();
  }
}
