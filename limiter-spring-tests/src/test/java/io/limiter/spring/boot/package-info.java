@NullMarked
package io.limiter.spring.boot;

import org.jspecify.annotations.NullMarked;
