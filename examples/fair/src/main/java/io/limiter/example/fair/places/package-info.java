/** The nearest polling places: a geo index with a stable order. */
@NullMarked
package io.limiter.example.fair.places;

import org.jspecify.annotations.NullMarked;
