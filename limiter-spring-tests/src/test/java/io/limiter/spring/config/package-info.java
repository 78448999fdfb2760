@NullMarked
package io.limiter.spring.config;

import org.jspecify.annotations.NullMarked;
