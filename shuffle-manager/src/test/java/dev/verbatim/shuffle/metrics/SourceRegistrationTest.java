package dev.verbatim.shuffle.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.codahale.metrics.MetricRegistry;
import java.net.URL;
import java.net.URLClassLoader;
import org.apache.spark.SparkConf;
import org.apache.spark.metrics.MetricsSystem;
import org.apache.spark.metrics.source.Source;
import org.junit.jupiter.api.Test;

class SourceRegistrationTest {
  private final MetricsSystem system =
      MetricsSystem.createMetricsSystem("executor", new SparkConf(false));

  /** As Spark's loader where the application's classes come first. */
  private static final class ApplicationFirst extends URLClassLoader {
    ApplicationFirst() {
      super(
          new URL[] {locationOf(MetricsSource.class), locationOf(MetricRegistry.class)},
          SourceRegistrationTest.class.getClassLoader());
    }

    private static URL locationOf(Class<?> type) {
      return type.getProtectionDomain().getCodeSource().getLocation();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      boolean own = name.startsWith("dev.verbatim.shuffle.") || name.startsWith("com.codahale.");
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : own ? findClass(name) : super.loadClass(name, resolve);
      }
    }
  }

  private static Source make(Class<?> source, Class<?> counters) {
    try {
      Object some = counters.getConstructor().newInstance();
      return (Source) source.getMethod("ofExecutor", counters).invoke(null, some);
    } catch (ReflectiveOperationException e) {
      throw e.getCause() instanceof LinkageError error ? error : new AssertionError(e);
    }
  }

  @Test
  void shouldGoOnWithoutMetricsWhenTheApplicationBringsALibraryForThem() throws Exception {
    try (ApplicationFirst loader = new ApplicationFirst()) {
      Class<?> source = loader.loadClass(MetricsSource.class.getName());
      Class<?> counters = loader.loadClass(ShuffleCounters.class.getName());
      String message = assertThrows(LinkageError.class, () -> make(source, counters)).getMessage();
      assertTrue(message.startsWith("loader constraint violation"), message);

      SourceRegistration.register(system, () -> make(source, counters)).close();

      assertEquals(0, system.getSourcesByName(MetricsSource.NAME).size());
    }
  }

  @Test
  void shouldHaveTheSourceUntilItIsClosed() {
    SourceRegistration registration =
        SourceRegistration.register(system, () -> MetricsSource.ofExecutor(new ShuffleCounters()));
    assertEquals(1, system.getSourcesByName(MetricsSource.NAME).size());

    registration.close();

    assertEquals(0, system.getSourcesByName(MetricsSource.NAME).size());
  }
}
