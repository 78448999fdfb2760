/** A vote on tea and coffee. None of it knows that it is limited. */
@NullMarked
package io.limiter.example.vote;

import org.jspecify.annotations.NullMarked;
