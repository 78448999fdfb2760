/** The sale of tickets. */
@NullMarked
package io.limiter.example.fair.sale;

import org.jspecify.annotations.NullMarked;
