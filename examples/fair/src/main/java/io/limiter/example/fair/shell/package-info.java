/** What all panels of the page have in common: header fields, messages, and the live picture of Redis. */
@NullMarked
package io.limiter.example.fair.shell;

import org.jspecify.annotations.NullMarked;
