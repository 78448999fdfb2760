@NullMarked
package io.limiter.spring.method;

import org.jspecify.annotations.NullMarked;
