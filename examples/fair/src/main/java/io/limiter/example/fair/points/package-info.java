/** A point for each different article that a visitor reads, up to a number a day. */
@NullMarked
package io.limiter.example.fair.points;

import org.jspecify.annotations.NullMarked;
