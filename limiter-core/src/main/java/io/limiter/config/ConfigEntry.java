package io.limiter.config;

/**
 * One key, its value, and its source.
 *
 * @param source the file or place
 * @param line the line in it, from 1; 0 where there are no lines
 */
record ConfigEntry(String source, int line, String key, String value) {}
