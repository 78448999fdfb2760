/** What a decision in Redis costs, under a load of callers that each wait for their answer. */
@NullMarked
package io.limiter.benchmark.redis;

import org.jspecify.annotations.NullMarked;
