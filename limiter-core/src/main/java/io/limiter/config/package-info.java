/**
 * Limits, policies and rules from text: one grammar for a properties file, the environment and every other place where a
 * limit is written. Text becomes values once, when it is loaded; all its mistakes are told in one message.
 */
@NullMarked
package io.limiter.config;

import org.jspecify.annotations.NullMarked;
