/** Limits woven by AspectJ into the code of any class. Needs no Spring context. */
@NullMarked
package io.limiter.spring.aop;

import org.jspecify.annotations.NullMarked;
