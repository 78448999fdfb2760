/**
 * Histories of calls on two instances under load, and what must be true of them whatever the order was in which Redis decided.
 * It knows the limiter by its public types alone.
 */
@NullMarked
package io.limiter.history;

import org.jspecify.annotations.NullMarked;
