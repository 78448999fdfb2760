@NullMarked
package io.limiter.spring.aop;

import org.jspecify.annotations.NullMarked;
