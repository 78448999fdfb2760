@NullMarked
package io.limiter.spring.boot.webflux;

import org.jspecify.annotations.NullMarked;
