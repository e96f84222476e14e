package dev.verbatim.shuffle;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;

/** Keeps what a class logs, from opening to closing. */
public final class CapturedLog implements AutoCloseable {
  private final Logger logger;
  private final Level before;
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final AbstractAppender appender =
      new AbstractAppender("captured", null, null, false, Property.EMPTY_ARRAY) {
        @Override
        public void append(LogEvent event) {
          lines.add(event.getLevel() + " " + event.getMessage().getFormattedMessage());
        }
      };

  public CapturedLog(Class<?> source) {
    logger = (Logger) LogManager.getLogger(source);
    before = logger.getLevel();
    // Without a configuration, and Spark's may not be there yet, only errors are logged.
    Configurator.setLevel(logger, Level.INFO);
    appender.start();
    logger.addAppender(appender);
  }

  /** Level and message of each event, in order. */
  public List<String> lines() {
    return List.copyOf(lines);
  }

  @Override
  public void close() {
    logger.removeAppender(appender);
    appender.stop();
    Configurator.setLevel(logger, before);
  }
}
