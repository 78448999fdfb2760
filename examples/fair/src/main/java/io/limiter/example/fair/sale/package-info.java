/** Tickets for the result show: a stock that holds what is not yet paid, and never sells more than there is. */
@NullMarked
package io.limiter.example.fair.sale;

import org.jspecify.annotations.NullMarked;
