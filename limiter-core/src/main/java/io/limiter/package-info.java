/**
 * The words and the one question: may this caller, under this policy, pass now, and if not, when? Values, the
 * {@link io.limiter.RateLimiter} and the one seam behind it, the {@link io.limiter.Backend}.
 */
@NullMarked
package io.limiter;

import org.jspecify.annotations.NullMarked;
