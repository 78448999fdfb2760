/** A point for each different article that a visitor reads, so many a day. */
@NullMarked
package io.limiter.example.fair.points;

import org.jspecify.annotations.NullMarked;
