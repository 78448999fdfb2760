/** What only Redis has: scripts, keys, expiry, and servers that stop. */
@NullMarked
package io.limiter.redis;

import org.jspecify.annotations.NullMarked;
