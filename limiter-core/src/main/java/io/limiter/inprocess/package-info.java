/** Decides inside this JVM, with the same meaning as in Redis and nothing to install. */
@NullMarked
package io.limiter.inprocess;

import org.jspecify.annotations.NullMarked;
