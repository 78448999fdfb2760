@NullMarked
package io.limiter.spring.boot.test;

import org.jspecify.annotations.NullMarked;
