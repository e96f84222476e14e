package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Places;
import dev.verbatim.it.spark.fixture.SparkHome;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The plugin jar, beside Spark's jars and nothing else of ours. */
@Tag("tcp")
class PluginJarTest {
  private static final String SERVICES = "META-INF/services/";
  private static final String HISTORY = "org.apache.spark.status.AppHistoryServerPlugin";

  /** Names of the jar's own classes, by service. */
  private static Map<String, List<String>> services(JarFile jar) throws IOException {
    Map<String, List<String>> services = new HashMap<>();
    for (JarEntry entry : jar.stream().filter(e -> !e.isDirectory()).toList()) {
      if (entry.getName().startsWith(SERVICES)) {
        try (BufferedReader reader =
            new BufferedReader(
                new InputStreamReader(jar.getInputStream(entry), StandardCharsets.UTF_8))) {
          services.put(
              entry.getName().substring(SERVICES.length()),
              reader
                  .lines()
                  .map(line -> line.replaceFirst("#.*", "").strip())
                  .filter(line -> !line.isEmpty())
                  .toList());
        }
      }
    }
    return services;
  }

  private static URL[] classPath() throws IOException {
    List<URL> urls = new ArrayList<>();
    for (Path jar : Stream.concat(Stream.of(Places.pluginJar()), SparkHome.jars()).toList()) {
      urls.add(jar.toUri().toURL());
    }
    return urls.toArray(URL[]::new);
  }

  @Test
  void shouldHoldAndLoadAllClassesThatItNamesAsServices() throws Exception {
    try (JarFile jar = new JarFile(Places.pluginJar().toFile());
        URLClassLoader loader =
            new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
      Map<String, List<String>> services = services(jar);

      assertEquals(List.of("dev.verbatim.shuffle.ui.RdmaHistoryPlugin"), services.get(HISTORY));
      for (Map.Entry<String, List<String>> service : services.entrySet()) {
        for (String provider : service.getValue()) {
          String entry = provider.replace('.', '/') + ".class";
          assertTrue(jar.getEntry(entry) != null, () -> "no " + entry);
        }
        List<String> loaded =
            ServiceLoader.load(Class.forName(service.getKey(), false, loader), loader).stream()
                .filter(provider -> service.getValue().contains(provider.type().getName()))
                .map(provider -> provider.get().getClass().getName())
                .toList();
        assertEquals(service.getValue(), loaded, service.getKey());
      }
    }
  }
}
