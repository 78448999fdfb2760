/** The cost of a decision in Redis, under load from callers that each wait for their answer. */
@NullMarked
package io.limiter.benchmark.redis;

import org.jspecify.annotations.NullMarked;
