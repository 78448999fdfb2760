/** A lock over three servers that the visitor stops and starts, and two who want it. */
@NullMarked
package io.limiter.example.fair.majority;

import org.jspecify.annotations.NullMarked;
