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
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * What the limiter logs from warnings on while a test runs, kept off the console. Other classes run in the same JVM at the
 * same time: a test that counts lines keeps only its own, by {@link #ofThreads} or {@link #about}.
 */
public final class LogLines implements AutoCloseable {
    /** The levels that tests want of loggers now. */
    private static final Map<Logger, List<Level>> WANTED = new HashMap<>();

    private static final Map<Logger, Level> BEFORE = new HashMap<>();

    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
    /** Where all lines of a library arrive, so that no test keeps another one's from it. */
    private final Logger top;

    private final Logger logger;
    private final Level level;
    private volatile Predicate<ILoggingEvent> kept = event -> true;
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            if (isHeard(event) && kept.test(event)) {
                events.add(event);
            }
        }
    };

    /** Listens from now on to the limiter's log. */
    public LogLines() {
        this("io.limiter", null);
    }

    /** Listens from now on to a logger, and lets it say what is of that level. */
    public LogLines(String name, @Nullable Level level) {
        top = (Logger) LoggerFactory.getLogger(name.startsWith("io.limiter") ? "io.limiter" : "org.redisson");
        logger = (Logger) LoggerFactory.getLogger(name);
        this.level = level == null ? Level.INFO : level;
        appender.start();
        synchronized (WANTED) {
            BEFORE.putIfAbsent(logger, Objects.requireNonNullElse(logger.getLevel(), Level.ALL));
            WANTED.computeIfAbsent(logger, one -> new ArrayList<>()).add(this.level);
            setLevel();
            top.addAppender(appender);
            top.setAdditive(false);
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

    private boolean isHeard(ILoggingEvent event) {
        return (logger == top || event.getLoggerName().startsWith(logger.getName()))
                && event.getLevel().isGreaterOrEqual(level);
    }

    /** The most that a test wants now, or what it was. */
    private void setLevel() {
        Level before = BEFORE.get(logger);
        logger.setLevel(WANTED.get(logger).stream()
                .min(Comparator.comparingInt(Level::toInt))
                .orElse(before == Level.ALL ? null : before));
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
        synchronized (WANTED) {
            top.detachAppender(appender);
            WANTED.get(logger).remove(level);
            setLevel();
            boolean isOver = !top.iteratorForAppenders().hasNext();
            top.setAdditive(isOver);
        }
    }
}
