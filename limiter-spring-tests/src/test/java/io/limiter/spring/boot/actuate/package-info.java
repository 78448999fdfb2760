@NullMarked
package io.limiter.spring.boot.actuate;

import org.jspecify.annotations.NullMarked;
