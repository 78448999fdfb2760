/** The page in a real browser. */
@NullMarked
package io.limiter.example.fair;

import org.jspecify.annotations.NullMarked;
