@NullMarked
package io.limiter.spring.boot.aot;

import org.jspecify.annotations.NullMarked;
