@NullMarked
package io.limiter.spring.expression;

import org.jspecify.annotations.NullMarked;
