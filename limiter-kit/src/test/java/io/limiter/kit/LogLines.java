package io.limiter.kit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * What the limiter logs while a test runs, kept off the console. Several may listen at once, to one logger too: each
 * has the lines from its own level on. They are those of the whole JVM, also of tests that run beside this one: a test
 * that counts lines keeps only its own, by {@link #ofThreads} or {@link #about}.
 */
public final class LogLines implements AutoCloseable {
    private static final String LIMITER = "io.limiter";
    /** Loggers that somebody listens to. */
    private static final Map<Logger, Heard> HEARD = new HashMap<>();

    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
    private final Logger logger;
    private final Level level;
    private volatile Predicate<ILoggingEvent> kept = event -> true;
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(level) && kept.test(event)) {
                events.add(event);
            }
        }
    };

    /** How a logger was before, and from which levels on it is heard. */
    private static final class Heard {
        final @Nullable Level before;
        final Level effective;
        final List<Level> levels = new ArrayList<>();

        Heard(Logger logger) {
            before = logger.getLevel();
            effective = logger.getEffectiveLevel();
        }
    }

    /** Listens from now on to the limiter's log. */
    public LogLines() {
        this(LIMITER, null);
    }

    /** Listens from now on to a logger, and lets it say what is of that level. */
    public LogLines(String name, @Nullable Level level) {
        logger = (Logger) LoggerFactory.getLogger(name);
        synchronized (HEARD) {
            Heard heard = HEARD.computeIfAbsent(logger, Heard::new);
            this.level = level == null ? heard.effective : level;
            appender.start();
            heard.levels.add(this.level);
            set(heard);
            logger.addAppender(appender);
        }
    }

    /** The least level that somebody listens from. Lines of loggers below that of the limiter also go to those who listen to it. */
    private void set(Heard heard) {
        logger.setLevel(
                heard.levels.stream().min(Comparator.comparingInt(Level::toInt)).orElse(heard.before));
        if (!logger.getName().startsWith(LIMITER + ".")) {
            logger.setAdditive(heard.levels.isEmpty());
        }
    }

    /** Keeps only what the calling thread logs from now on, and threads whose names begin like that. */
    public LogLines ofThreads(String... names) {
        String thread = Thread.currentThread().getName();
        kept = event ->
                event.getThreadName().equals(thread) || Stream.of(names).anyMatch(event.getThreadName()::startsWith);
        return this;
    }

    /** Keeps only what the calling thread logs from now on, and lines that contain the text: an address, a name. */
    public LogLines about(String text) {
        String thread = Thread.currentThread().getName();
        kept = event -> event.getFormattedMessage().contains(text)
                || event.getThreadName().equals(thread);
        return this;
    }

    /** The lines of this level that begin with the code. */
    public List<String> of(Level level, String code) {
        return events.stream()
                .filter(event -> event.getLevel() == level)
                .map(ILoggingEvent::getFormattedMessage)
                .filter(line -> line.startsWith(code))
                .toList();
    }

    /** The only line of this level that begins with the code. */
    public String only(Level level, String code) {
        List<String> lines = of(level, code);
        if (lines.size() != 1) {
            throw new AssertionError(lines.size() + " lines begin with " + code + ":\n" + this);
        }
        return lines.get(0);
    }

    /** Everything, for the message of a failed test. */
    @Override
    public String toString() {
        return events.stream()
                .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                .collect(Collectors.joining("\n"));
    }

    @Override
    public void close() {
        synchronized (HEARD) {
            logger.detachAppender(appender);
            Heard heard = HEARD.get(logger);
            if (heard == null || !heard.levels.remove(level)) {
                return;
            }
            set(heard);
            if (heard.levels.isEmpty()) {
                HEARD.remove(logger);
            }
        }
    }
}
