/** Points for articles. */
@NullMarked
package io.limiter.example.fair.points;

import org.jspecify.annotations.NullMarked;
