/**
 * Makes limiters: {@link io.limiter.engine.RateLimiters}. The way of a call from its charges to a decision that is
 * counted: the backend, the failure modes, the calls that wait, refunds, and what the monitor shows.
 */
@NullMarked
package io.limiter.engine;

import org.jspecify.annotations.NullMarked;
