/** The annotation, and what a denied call throws. */
@NullMarked
package io.limiter.spring;

import org.jspecify.annotations.NullMarked;
