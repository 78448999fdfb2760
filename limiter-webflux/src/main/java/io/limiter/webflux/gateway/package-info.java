/**
 * Routes of Spring Cloud Gateway on WebFlux: a rule of a route, as its filter {@code Limiter}, and a limiter for Gateway's own filter
 * {@code RequestRateLimiter}. Nothing else needs Gateway.
 */
@NullMarked
package io.limiter.webflux.gateway;

import org.jspecify.annotations.NullMarked;
