/** Benchmarks: the common parts of the cases in this JVM and on Redis. */
@NullMarked
package io.limiter.benchmark;

import org.jspecify.annotations.NullMarked;
