/** The site as it starts, over HTTP. */
@NullMarked
package io.limiter.example.fair;

import org.jspecify.annotations.NullMarked;
