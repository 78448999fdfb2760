@NullMarked
package io.limiter.spring.aot;

import org.jspecify.annotations.NullMarked;
