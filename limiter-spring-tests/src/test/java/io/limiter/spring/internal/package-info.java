@NullMarked
package io.limiter.spring.internal;

import org.jspecify.annotations.NullMarked;
