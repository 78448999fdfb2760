/** The rules of the configuration in WebFlux: a filter, and the answers to denied requests. */
@NullMarked
package io.limiter.webflux;

import org.jspecify.annotations.NullMarked;
