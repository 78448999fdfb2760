package io.limiter.internal.config;

/**
 * One key, its value, and its source.
 *
 * @param source the file or place
 * @param line the line in it, from 1; 0 where there are no lines
 * @param key as written
 * @param value without blanks around it
 */
public record ConfigEntry(String source, int line, String key, String value) {
    /** The source and the line. */
    String place() {
        return source + (line > 0 ? " line " + line : "");
    }
}
