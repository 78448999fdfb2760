/** A vote on tea and coffee. None of its code refers to the limiter. */
@NullMarked
package io.limiter.example.vote;

import org.jspecify.annotations.NullMarked;
