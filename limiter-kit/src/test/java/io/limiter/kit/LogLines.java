package io.limiter.kit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** What the limiter logs from warnings on while a test runs, kept off the console. */
public final class LogLines implements AutoCloseable {
    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
    private final Logger logger;
    private final @Nullable Level levelBefore;
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            events.add(event);
        }
    };

    /** Listens from now on to the limiter's log. */
    public LogLines() {
        this("io.limiter", null);
    }

    /** Listens from now on to a logger, and lets it say what is of that level. */
    public LogLines(String name, @Nullable Level level) {
        logger = (Logger) LoggerFactory.getLogger(name);
        levelBefore = logger.getLevel();
        if (level != null) {
            logger.setLevel(level);
        }
        appender.start();
        logger.addAppender(appender);
        logger.setAdditive(false);
    }

    /** The lines of this level that begin with the code. */
    public List<String> of(Level level, String code) {
        return events.stream()
                .filter(event -> event.getLevel() == level)
                .map(ILoggingEvent::getFormattedMessage)
                .filter(line -> line.startsWith(code))
                .toList();
    }

    /** Everything, for the message of a failed test. */
    @Override
    public String toString() {
        return String.join(
                "\n",
                events.stream()
                        .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                        .toList());
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setLevel(levelBefore);
        logger.setAdditive(true);
    }
}
