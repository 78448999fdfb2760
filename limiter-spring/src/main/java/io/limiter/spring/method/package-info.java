/** Finds annotated methods and prepares them once, with the current policies of a limiter. */
@NullMarked
package io.limiter.spring.method;

import org.jspecify.annotations.NullMarked;
