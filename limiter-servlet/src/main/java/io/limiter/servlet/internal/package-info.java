/** The requests of a servlet container and its web applications. For the other packages of this library. */
@NullMarked
package io.limiter.servlet.internal;

import org.jspecify.annotations.NullMarked;
