package io.limiter.internal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.NOPLoggerFactory;

/**
 * The loggers of the limiter. Where SLF4J has no provider, everything written to it is lost; then warnings and errors go to the
 * log of the servlet container where there is one, else to standard error. Thread-safe.
 */
public final class DiagnosticLog {
    private static final List<Consumer<String>> SINKS = new CopyOnWriteArrayList<>();

    private DiagnosticLog() {}

    /** The logger of a class of the limiter. */
    public static Logger of(Class<?> type) {
        return of(type.getName());
    }

    /** The logger of that name. */
    public static Logger of(String name) {
        return LoggerFactory.getILoggerFactory() instanceof NOPLoggerFactory
                ? new LastResort(name)
                : LoggerFactory.getLogger(name);
    }

    /**
     * Where SLF4J has no provider, sends the lines here instead of to standard error, until it is closed.
     *
     * @param sink the log of a container; it must be safe to call from any thread
     */
    public static Redirection to(Consumer<String> sink) {
        SINKS.add(sink);
        return () -> SINKS.remove(sink);
    }

    /** Ends the redirection by {@link #to}. */
    @FunctionalInterface
    public interface Redirection extends AutoCloseable {
        @Override
        void close();
    }

    private static void write(String line) {
        if (SINKS.isEmpty()) {
            System.err.println(line);
        } else {
            SINKS.forEach(sink -> sink.accept(line));
        }
    }

    /** Knows no configuration: warnings and errors are written, the rest is not. */
    private static final class LastResort extends LegacyAbstractLogger {
        private static final long serialVersionUID = 1L;

        LastResort(String name) {
            this.name = name;
        }

        @Override
        public boolean isTraceEnabled() {
            return false;
        }

        @Override
        public boolean isDebugEnabled() {
            return false;
        }

        @Override
        public boolean isInfoEnabled() {
            return false;
        }

        @Override
        public boolean isWarnEnabled() {
            return true;
        }

        @Override
        public boolean isErrorEnabled() {
            return true;
        }

        @Override
        protected @Nullable String getFullyQualifiedCallerName() {
            return null;
        }

        @Override
        protected void handleNormalizedLoggingCall(
                Level level,
                @Nullable Marker marker,
                String pattern,
                Object @Nullable [] arguments,
                @Nullable Throwable thrown) {
            String text = MessageFormatter.basicArrayFormat(pattern, arguments);
            write(level + " " + name + " " + text + (thrown == null ? "" : ": " + thrown));
        }
    }
}
