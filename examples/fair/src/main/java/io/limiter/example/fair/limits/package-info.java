/** Four limiters with one limit, side by side under the same calls. */
@NullMarked
package io.limiter.example.fair.limits;

import org.jspecify.annotations.NullMarked;
