/** Limited methods in WebFlux: the denied call as an HTTP response. It needs no servlet API. */
@NullMarked
package io.limiter.spring.webflux;

import org.jspecify.annotations.NullMarked;
