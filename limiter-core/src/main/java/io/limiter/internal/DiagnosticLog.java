package io.limiter.internal;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The loggers of the limiter. Thread-safe. */
public final class DiagnosticLog {
    private DiagnosticLog() {}

    /** The logger of a class of the limiter. */
    public static Logger of(Class<?> type) {
        return LoggerFactory.getLogger(type);
    }

    /** The logger of that name. */
    public static Logger of(String name) {
        return LoggerFactory.getLogger(name);
    }
}
