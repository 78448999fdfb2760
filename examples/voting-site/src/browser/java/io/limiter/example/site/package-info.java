/** The site in a real browser. */
@NullMarked
package io.limiter.example.site;

import org.jspecify.annotations.NullMarked;
