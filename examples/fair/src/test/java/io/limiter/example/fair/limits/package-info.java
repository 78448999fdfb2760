/** Four limiters. */
@NullMarked
package io.limiter.example.fair.limits;

import org.jspecify.annotations.NullMarked;
