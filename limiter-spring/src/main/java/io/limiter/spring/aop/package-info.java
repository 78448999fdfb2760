/** Limits in the code of any class, woven by AspectJ. Needs no Spring context. */
@NullMarked
package io.limiter.spring.aop;

import org.jspecify.annotations.NullMarked;
