@NullMarked
package io.limiter.spring.optional;

import org.jspecify.annotations.NullMarked;
