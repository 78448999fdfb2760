/** Delayed tasks: each runs at least once and takes effect once. A delay queue in front of a stream. */
@NullMarked
package io.limiter.example.fair.tasks;

import org.jspecify.annotations.NullMarked;
