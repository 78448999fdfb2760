@NullMarked
package io.limiter.spring.docs;

import org.jspecify.annotations.NullMarked;
