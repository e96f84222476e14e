package dev.verbatim.shuffle.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file itself, found on the class path as Spark's scripts put it there. */
class SiteFileTest {
  private final ClassLoader before = Thread.currentThread().getContextClassLoader();

  @TempDir private Path folder;

  @BeforeEach
  void putFolderOnTheClassPath() throws Exception {
    URL[] path = {folder.toUri().toURL()};
    Thread.currentThread().setContextClassLoader(new URLClassLoader(path, before));
  }

  @AfterEach
  void restore() {
    Thread.currentThread().setContextClassLoader(before);
  }

  private void write(String content) throws Exception {
    Files.writeString(folder.resolve(SiteFile.NAME), content);
  }

  @Test
  void shouldReadItsOwnKeysAndNoOthers() throws Exception {
    write(
        """
        <configuration>
          <property><name>rdma.readDepth</name><value>7</value></property>
          <property><name>rdma.readDeph</name><value>8</value></property>
          <property><name>base</name><value>10.77.0</value></property>
          <property><name>rdma.address</name><value>${base}.1</value></property>
        </configuration>
        """);

    assertEquals(
        Map.of("rdma.readDepth", "7", "rdma.readDeph", "8", "rdma.address", "10.77.0.1"),
        SiteFile.read());
    RdmaConf conf = RdmaConf.load(new SparkConf(false));
    assertEquals(7, conf.get(RdmaConf.READ_DEPTH));
    assertEquals(1, conf.warnings().size(), () -> conf.warnings().toString());
  }

  /** Who copies it has what there would be without it, until he changes a value. */
  @Test
  void shouldTakeTheTemplate() throws Exception {
    write(Files.readString(Path.of("..", "conf", SiteFile.NAME)));

    assertEquals(
        Map.of("rdma.trafficClass", "0", "rdma.maxRegisteredBytes", "4g"), SiteFile.read());
    RdmaConf conf = RdmaConf.load(new SparkConf(false));
    assertEquals(List.of(), conf.warnings());
    RdmaConf defaults = RdmaConf.defaults();
    assertEquals(defaults.get(RdmaConf.TRAFFIC_CLASS), conf.get(RdmaConf.TRAFFIC_CLASS));
    assertEquals(
        defaults.get(RdmaConf.MAX_REGISTERED_BYTES), conf.get(RdmaConf.MAX_REGISTERED_BYTES));
  }

  @Test
  void shouldNameTheFileWhenItIsNotXml() throws Exception {
    write("<configuration><property>");

    Throwable error =
        assertThrows(RuntimeException.class, () -> RdmaConf.load(new SparkConf(false)));

    assertTrue(error.toString().contains(SiteFile.NAME), error::toString);
  }

  @Test
  void shouldHaveNoSettingsWhenThereIsNoFile() {
    assertEquals(Map.of(), SiteFile.read());
  }
}
