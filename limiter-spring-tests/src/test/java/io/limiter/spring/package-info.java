@NullMarked
package io.limiter.spring;

import org.jspecify.annotations.NullMarked;
