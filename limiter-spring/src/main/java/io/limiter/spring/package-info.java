/** The annotation, and the exception of a denied call. */
@NullMarked
package io.limiter.spring;

import org.jspecify.annotations.NullMarked;
