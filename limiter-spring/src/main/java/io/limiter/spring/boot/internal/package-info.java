/** What the filters of servlets and of WebFlux have in common in Spring Boot. */
@NullMarked
package io.limiter.spring.boot.internal;

import org.jspecify.annotations.NullMarked;
