/** The evening of a vote: the application, and the Redis that all of its systems are on. */
@NullMarked
package io.limiter.example.fair;

import org.jspecify.annotations.NullMarked;
