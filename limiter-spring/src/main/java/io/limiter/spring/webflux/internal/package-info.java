/** What is written to responses of WebFlux, by the filter and for denied methods. */
@NullMarked
package io.limiter.spring.webflux.internal;

import org.jspecify.annotations.NullMarked;
