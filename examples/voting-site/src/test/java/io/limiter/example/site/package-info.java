/** The site as it starts, over HTTP. */
@NullMarked
package io.limiter.example.site;

import org.jspecify.annotations.NullMarked;
