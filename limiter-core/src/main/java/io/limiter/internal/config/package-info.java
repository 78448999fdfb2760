/**
 * Settings from text: the table of properties, the parser, and the checked values. One grammar for a properties file, the
 * environment and every other place where a limit is written. Text becomes values once, when it is loaded; one message lists
 * all mistakes. Not for applications, which use {@code io.limiter.config}.
 */
@NullMarked
package io.limiter.internal.config;

import org.jspecify.annotations.NullMarked;
