/**
 * Limits, policies and rules from text: one grammar for a properties file, the environment and every other place where a
 * limit is written. Text becomes values once, when it is loaded; one message lists all mistakes.
 */
@NullMarked
package io.limiter.config;

import org.jspecify.annotations.NullMarked;
