/** Reservations that expire unless they are paid: a delay queue in front of a reliable queue. */
@NullMarked
package io.limiter.example.fair.reservations;

import org.jspecify.annotations.NullMarked;
