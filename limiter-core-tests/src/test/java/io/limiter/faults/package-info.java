/**
 * The fault suite: blocking callers on two instances while something goes wrong with Redis, and afterwards every answer
 * compared with the state in Redis. It knows the limiter by its public types alone.
 */
@NullMarked
package io.limiter.faults;

import org.jspecify.annotations.NullMarked;
