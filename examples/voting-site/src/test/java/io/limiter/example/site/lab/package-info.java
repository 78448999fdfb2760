/** The laboratory. */
@NullMarked
package io.limiter.example.site.lab;

import org.jspecify.annotations.NullMarked;
