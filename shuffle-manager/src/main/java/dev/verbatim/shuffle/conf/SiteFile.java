package dev.verbatim.shuffle.conf;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/** Cluster-wide defaults: {@code rdma-site.xml} of the class path or of {@code HADOOP_CONF_DIR}. */
final class SiteFile {
  static final String NAME = "rdma-site.xml";

  private SiteFile() {}

  /** Its keys that begin as ours do, with their values. */
  static Map<String, String> read() {
    Configuration site = new Configuration(false);
    String folder = System.getenv("HADOOP_CONF_DIR");
    if (site.getResource(NAME) != null) {
      site.addResource(NAME);
    } else if (folder != null && Files.isReadable(Path.of(folder, NAME))) {
      // A JVM that was not started by Spark's scripts does not have the folder on its class path.
      site.addResource(new org.apache.hadoop.fs.Path(Path.of(folder, NAME).toUri()));
    }
    Map<String, String> settings = new HashMap<>();
    for (Map.Entry<String, String> setting : site) {
      if (setting.getKey().startsWith(RdmaConf.SITE_PREFIX)) {
        settings.put(setting.getKey(), site.get(setting.getKey()));
      }
    }
    return settings;
  }
}
