@NullMarked
package io.limiter.spring.weaving;

import org.jspecify.annotations.NullMarked;
