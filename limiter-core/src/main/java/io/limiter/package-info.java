/**
 * The main types: values such as policies, keys and decisions, the {@link io.limiter.RateLimiter} that decides whether
 * a call is allowed, and the one interface behind it, {@link io.limiter.Backend}.
 */
@NullMarked
package io.limiter;

import org.jspecify.annotations.NullMarked;
