package io.limiter.config;

/**
 * One key and its value, and where they stand.
 *
 * @param source the file or place
 * @param line the line in it, from 1; 0 where there are no lines
 */
record ConfigEntry(String source, int line, String key, String value) {}
