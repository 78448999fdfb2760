/** Decides in Redis, through Redisson or Lettuce, for all machines together. */
@NullMarked
package io.limiter.redis;

import org.jspecify.annotations.NullMarked;
