@NullMarked
package io.limiter.spring.docs.boot;

import org.jspecify.annotations.NullMarked;
