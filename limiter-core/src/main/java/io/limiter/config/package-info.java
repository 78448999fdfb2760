/** The configuration of a limiter, by text and in code. One message lists all mistakes. Thread-safe, except builders. */
@NullMarked
package io.limiter.config;

import org.jspecify.annotations.NullMarked;
